"""The HTTP API (docs/contract.md)."""
