"""Jupyter notebooks, read as the Python that their cells are: in order, in one text, magics left out.

The rest of the tool sees that text and nothing else; `reading.Notebook` says which cell a line of it belongs to, and
`reading.line_in_words` is how users are told of a line, of whatever file.
Nothing here executes anything, and outputs of cells are never looked at.
"""
