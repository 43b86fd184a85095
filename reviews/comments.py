"""The comment that a reviewer may write with an answer, and the loop's rule about it."""

from collections.abc import Iterable

from loops.comment_rule import fold
from reviews.models import Request
from reviews.response_types import get_response_type
from reviews.response_types.posted import unify_newlines
from web.phrases import Count, join_alternatives, say
from web.sanitize import UNSTORABLE

MAX_LENGTH = 2000  # characters
MAX_NAMED = 4  # options in a sentence


class InvalidComment(ValueError):
    """The error that the reviewer sees beside the comment."""


def check_comment(request: Request, *, answer: object, comment: str) -> str | None:
    """Checks a comment and returns it as `response_comment`, None for a blank one.

    `answer` has been checked. Raises InvalidComment with a sentence for the reviewer.
    """
    text = unify_newlines(comment)
    if UNSTORABLE.search(text):
        raise InvalidComment(say("The comment contains a character that cannot be stored"))
    if len(text) > MAX_LENGTH:
        raise InvalidComment(
            say("The comment must have at most %(most)s characters", most=Count(MAX_LENGTH))
        )
    if text.strip():
        return text
    chosen = get_response_type(request.response_type).list_chosen(answer)
    labels = find_chosen_needing_comment(request, chosen)
    if labels:
        raise InvalidComment(
            say("Add a comment. It’s required for %(options)s", options=join_labels(labels))
        )
    return None


def find_options_needing_comment(request: Request) -> dict[str, str]:
    """Returns the options of the request that need a comment: their values and labels."""
    if not request.loop.comment_required_for:
        return {}
    kind = get_response_type(request.response_type)
    values = kind.list_values(request.response_config)
    labels = kind.get_labels(request.response_config, values)
    rule = {fold(option) for option in request.loop.comment_required_for}
    pairs = zip(values, labels, strict=True)
    return {value: label for value, label in pairs if {fold(value), fold(label)} & rule}


def find_chosen_needing_comment(request: Request, values: Iterable[object]) -> list[str]:
    """Returns the labels of those chosen values that need a comment."""
    chosen = list(values)
    return [
        label for value, label in find_options_needing_comment(request).items() if value in chosen
    ]


def join_labels(labels: Iterable[str]) -> str:
    """Joins labels as in a sentence: “Decline” or “Refund”; of many labels only the first."""
    quoted = [f"“{label}”" for label in labels]
    if len(quoted) > MAX_NAMED:
        quoted = [*quoted[:MAX_NAMED], say("%(count)s more", count=len(quoted) - MAX_NAMED)]
    return join_alternatives(quoted)
