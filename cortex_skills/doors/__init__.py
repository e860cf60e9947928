"""The interfaces: command line, HTTP, MCP, REST, SPARQL, pages. They translate, and contain no policy."""
