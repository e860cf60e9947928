"""The Model Context Protocol: the plugin's tools, skills and prompts for agents, over stdio and at /mcp."""
