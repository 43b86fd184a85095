"""Backups of the database: one file of pg_dump with a manifest at its end."""


class Refused(Exception):
    """A backup could not be made or restored; the message gives the reason and the remedy."""
