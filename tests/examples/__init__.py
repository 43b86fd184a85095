"""The examples against the real libraries and a real service."""
