"""Names, terms, and the vocabulary of the graph."""
