"""Pure policy decisions over manifests: permissions, budgets."""
