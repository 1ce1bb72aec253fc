"""Documents as HTML pages: for people who have neither the tool nor the files, and for editors.

A page loads nothing and runs nothing. Whatever comes from elsewhere is text and never markup. Places are links with
`data-range`, so that an editor can lead to the expression; nothing here knows an editor.
"""
