"""Backups of the database: one file of pg_dump with a manifest at its end."""


class Refused(Exception):
    """A backup was not made or not restored; the text says why and what to do."""
