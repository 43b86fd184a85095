"""The Model Context Protocol at /mcp: agents call the operations of the API as tools."""
