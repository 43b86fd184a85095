"""Checks what a person decided about a proposal."""

from collections.abc import Mapping
from typing import Any

from reviews.response_types.approval.edits import check_arguments
from reviews.response_types.approval.names import APPROVE, EDIT, REJECT, RESPOND
from reviews.response_types.approval.proposal import Proposal
from reviews.response_types.approval.words import join_names
from reviews.response_types.faults import InvalidAnswer, InvalidDefault
from reviews.response_types.text import MAX_TEXT_LENGTH
from reviews.response_types.wording import count_characters
from web.phrases import say
from web.sanitize import UNSTORABLE


def check_decision(proposal: Proposal, answer: object) -> dict[str, Any]:
    """Checks a decision and returns it as `response_data`.

    An edit names all arguments; one that changes nothing is an approval. Raises InvalidAnswer.
    """
    action = answer.get("action") if isinstance(answer, Mapping) else None
    if not isinstance(answer, Mapping) or action not in proposal.actions:
        raise InvalidAnswer(say("Choose what to do"))
    message = _check_message(answer.get("message"), is_needed=action == RESPOND)
    decision = {"action": action, **({"message": message} if message else {})}
    if action in (REJECT, RESPOND):
        return decision
    given = answer.get("arguments", proposal.arguments if action == APPROVE else None)
    arguments, edited = check_arguments(proposal, given)
    if action == APPROVE and edited:
        raise InvalidAnswer(
            say(
                "You changed %(names)s. Approve it with the changes, or undo them",
                names=join_names(edited),
            )
        )
    if action == EDIT and not edited and APPROVE not in proposal.actions:
        raise InvalidAnswer(say("Change at least one argument"))
    action = EDIT if edited else APPROVE
    return {**decision, "action": action, "edited": edited, "arguments": arguments}


def check_default(default: object) -> None:
    """Raises InvalidDefault unless the default rejects or responds: nobody has looked."""
    field = "default_response"
    if not isinstance(default, Mapping):
        raise InvalidDefault(say("%(field)s must be an object", field=field))
    action = default.get("action")
    if action in (APPROVE, EDIT):
        raise InvalidDefault(
            say(
                "%(field)s must not be %(action)s, because nobody has looked at the proposal. "
                "Use reject or respond",
                field=f"{field}.action",
                action=action,
            )
        )
    if action not in (REJECT, RESPOND):
        names = f"{REJECT}, {RESPOND}"
        raise InvalidDefault(
            say("%(field)s must be one of: %(names)s", field=f"{field}.action", names=names)
        )
    if "arguments" in default:
        raise InvalidDefault(
            say("%(field)s is only for an approval by a person", field=f"{field}.arguments")
        )
    _check_default_message(f"{field}.message", default.get("message"), is_needed=action == RESPOND)


def _check_default_message(field: str, message: object, *, is_needed: bool) -> None:
    if message is None and not is_needed:
        return
    if message is not None and not isinstance(message, str):
        raise InvalidDefault(say("%(field)s must be a string", field=field))
    if is_needed and not (message and message.strip()):
        raise InvalidDefault(say("%(field)s is required", field=field))
    if message and len(message) > MAX_TEXT_LENGTH:
        raise InvalidDefault(
            say(
                "%(field)s must have at most %(most)s characters", field=field, most=MAX_TEXT_LENGTH
            )
        )


def _check_message(message: object, *, is_needed: bool) -> str:
    """Returns the message, '' for none or a blank one. Raises InvalidAnswer."""
    text = "" if message is None else message
    if not isinstance(text, str):
        raise InvalidAnswer(say("The message must be text"))
    if UNSTORABLE.search(text):
        raise InvalidAnswer(say("The message contains a character that cannot be stored"))
    if len(text) > MAX_TEXT_LENGTH:
        most = count_characters(MAX_TEXT_LENGTH)
        raise InvalidAnswer(say("The message must have at most %(characters)s", characters=most))
    if text.strip():
        return text
    if is_needed:
        raise InvalidAnswer(say("Write a message"))
    return ""
