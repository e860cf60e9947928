"""What the interfaces over HTTP share: callers, bodies, errors, worker pools, middleware."""
