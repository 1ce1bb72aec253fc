"""Charts for files: what a run takes of memory and of time.

Each module has one chart, drawn by matplotlib; `canvas` is the only one that knows it, as it may be missing.
`charts_html` puts the same documents into the editor's page.
"""
