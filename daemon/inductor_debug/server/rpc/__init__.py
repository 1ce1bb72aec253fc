"""JSON-RPC and LSP's framing over standard input and output or TCP, and what the client can do.

Knows nothing of documents.
"""
