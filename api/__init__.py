"""Requests over HTTP (specification, Endpoints)."""
