"""The language server: the only room that knows pygls and lsprotocol.

`factory` puts the features on a server, `client_session` is its life.
"""
