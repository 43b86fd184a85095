"""A proxy before an MCP server, which asks people before it lets a tool be called."""
