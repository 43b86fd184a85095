"""Runs the service with one command: embedded PostgreSQL and Redis, and a small supervisor.

Nothing here imports Django or the applications. Production does not need this package.
"""


class CannotStart(Exception):
    """The run cannot start; the message says why and what to do. Shown without a traceback."""


class DidNotStart(CannotStart):
    """A server did not start this time; another attempt may succeed."""


class Interrupted(Exception):
    """A signal asked the run to stop while something was starting."""
