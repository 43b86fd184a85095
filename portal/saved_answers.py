"""Answers posted after their sender's sign-in had ended.

They are saved in the session of the browser, which outlives the sign-in, and the question's page
offers them again.
"""

from django.contrib.sessions.backends.base import SessionBase

from portal.posted import NOTHING, Posted

_KEY = "saved_answers"
MAX_QUESTIONS = 3
MAX_LENGTH = 14_000  # characters; no valid answer and comment have more


def save_answer(session: SessionBase, request_id: str, posted: Posted) -> None:
    """Saves what was posted for the question; above MAX_QUESTIONS the oldest is removed."""
    if sum(map(len, posted.answer)) + len(posted.comment) > MAX_LENGTH:
        return
    saved = {key: value for key, value in session.get(_KEY, {}).items() if key != request_id}
    entry = (posted.answer, posted.comment)
    session[_KEY] = dict([*saved.items(), (request_id, entry)][-MAX_QUESTIONS:])


def read(session: SessionBase, request_id: str) -> Posted:
    """Reads what was saved for the question."""
    saved = session.get(_KEY, {}).get(request_id)
    return Posted(*saved) if saved else NOTHING


def remove(session: SessionBase, request_id: str) -> None:
    saved = session.get(_KEY, {})
    if request_id in saved:
        session[_KEY] = {key: value for key, value in saved.items() if key != request_id}
