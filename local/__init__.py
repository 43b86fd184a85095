"""The one-command run: embedded PostgreSQL and Redis, and a small supervisor.

Nothing here imports Django or the applications; production does not need this package.
"""


class CannotStart(Exception):
    """What is in the way, as one sentence that says what to do. Shown without a traceback."""


class Interrupted(Exception):
    """A signal asked for the end while something was starting."""
