"""The editor's pages in a browser (`inductor-debug ui`): an ASGI application in front of a daemon that runs headless.

It is alone in knowing Starlette and uvicorn, which come with the extra `ui`; only the command imports it, and only when
it runs. It may import the pages (`report/`), the settings, and the client of the server (`server/rpc`); it analyses
nothing.
"""
