"""The version of this service."""

VERSION = "0.1.0"  # `make release` writes it
