"""Answers that came when their sender was no longer signed in.

They wait in the session of the browser that sent them, which outlives the sign-in, and are offered
again on the question's page.
"""

from django.contrib.sessions.backends.base import SessionBase

_KEY = "kept_answers"
MAX_QUESTIONS = 3  # questions
MAX_LENGTH = 12_000  # characters: no answer has more


def keep(session: SessionBase, request_id: str, typed: list[str]) -> None:
    """Keeps what was posted for the question; the oldest of too many goes."""
    if sum(map(len, typed)) > MAX_LENGTH:
        return
    kept = {key: value for key, value in session.get(_KEY, {}).items() if key != request_id}
    session[_KEY] = dict([*kept.items(), (request_id, typed)][-MAX_QUESTIONS:])


def read(session: SessionBase, request_id: str) -> list[str]:
    """What was kept for the question, as it was posted."""
    kept: list[str] = session.get(_KEY, {}).get(request_id, [])
    return kept


def forget(session: SessionBase, request_id: str) -> None:
    kept = session.get(_KEY, {})
    if request_id in kept:
        session[_KEY] = {key: value for key, value in kept.items() if key != request_id}
