"""``callosum-mcp stores import``: the MCP servers that clients are set up with, as stores.

Above: the commands. Below: the clients' own files, an engine's connection, the settings. A server is recognised by the
tools it advertises; nothing is written before somebody said yes, and no secret is copied.
"""
