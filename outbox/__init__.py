"""Sends rows of a table: one engine, and a `Channel` for each kind of message."""
