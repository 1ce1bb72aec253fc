"""The outline of an open document for its editor, and the directives that the editor has written above its classes.

Everything is read off the present text; nothing runs, and the editor itself changes the document.
"""
