"""Pages of the feature `explorer`: one module for each, with a `PAGE`."""
