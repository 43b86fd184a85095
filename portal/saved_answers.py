"""Answers posted after their sender's sign-in had ended.

They are saved in the session of the browser, which outlives the sign-in, and the question's page
offers them again.
"""

from django.contrib.sessions.backends.base import SessionBase

_KEY = "kept_answers"
MAX_QUESTIONS = 3
MAX_LENGTH = 12_000  # characters; no valid answer has more


def save_answer(session: SessionBase, request_id: str, typed: list[str]) -> None:
    """Saves the posted values for the question; above MAX_QUESTIONS the oldest is removed."""
    if sum(map(len, typed)) > MAX_LENGTH:
        return
    saved = {key: value for key, value in session.get(_KEY, {}).items() if key != request_id}
    session[_KEY] = dict([*saved.items(), (request_id, typed)][-MAX_QUESTIONS:])


def read(session: SessionBase, request_id: str) -> list[str]:
    """Reads the values saved for the question, as they were posted."""
    saved: list[str] = session.get(_KEY, {}).get(request_id, [])
    return saved


def remove(session: SessionBase, request_id: str) -> None:
    saved = session.get(_KEY, {})
    if request_id in saved:
        session[_KEY] = {key: value for key, value in saved.items() if key != request_id}
