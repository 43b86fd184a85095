"""Clients that are generated from the OpenAPI document."""
