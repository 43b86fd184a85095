"""A response type that does not exist, and what it takes to add it: `date.py` and a template."""
