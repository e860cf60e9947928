"""The explorer: pages for a browser about a graph, its evidence, its skills and what they did."""
