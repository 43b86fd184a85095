"""Saves answers posted after their sender's sign-in had ended.

The browser's session, which outlives the sign-in, stores them. The question's page offers them
again, only to the person for whom the form was made.
"""

from django.contrib.sessions.backends.base import SessionBase

from accounts.models import User
from portal.posted import NOTHING, Posted
from reviews.response_types.base import ANSWER
from web.form_recovery import is_of

_KEY = "unsent_answers"  # of each question: the person, their answer and comment
MAX_QUESTIONS = 3
MAX_LENGTH = 25_000  # characters; no valid answer and comment have more


def save_answer(
    session: SessionBase, request_id: str, posted: Posted, *, person: str | None
) -> None:
    """Saves what a person posted for the question; above MAX_QUESTIONS the oldest is removed."""
    texts = (*posted.answer, *posted.list_values(), posted.comment)
    if sum(map(len, texts)) > MAX_LENGTH:
        return
    saved = {key: value for key, value in session.get(_KEY, {}).items() if key != request_id}
    entry = (person, posted.answer, posted.comment)
    session[_KEY] = dict([*saved.items(), (request_id, entry)][-MAX_QUESTIONS:])


def read(session: SessionBase, request_id: str, user: User) -> Posted:
    """Reads what the person has saved for the question."""
    entry = session.get(_KEY, {}).get(request_id)
    if entry is None or not is_of(user, entry[0]):
        return NOTHING
    _, answer, comment = entry
    # older versions saved the values of the only field
    return Posted(answer if isinstance(answer, dict) else {ANSWER: answer}, comment)


def remove(session: SessionBase, request_id: str) -> None:
    saved = session.get(_KEY, {})
    if request_id in saved:
        session[_KEY] = {key: value for key, value in saved.items() if key != request_id}
