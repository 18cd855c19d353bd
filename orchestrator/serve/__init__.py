"""Episodes for clients that are elsewhere: over HTTP, as a Gymnasium environment, over MCP."""
