"""Runs the service with one command: embedded PostgreSQL and Redis, and a small supervisor.

Nothing here imports Django or the applications. Production does not need this package.
"""


class CannotStart(Exception):
    """The run cannot start. The message gives reason and remedy; no traceback is shown."""


class DidNotStart(CannotStart):
    """A server did not start; another attempt may succeed."""


class Interrupted(Exception):
    """A signal asked the run to stop while something was starting."""
