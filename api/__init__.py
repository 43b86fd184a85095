"""The HTTP API (specification, Endpoints)."""
