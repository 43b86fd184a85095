"""The reviewer's form of an approval: its fields, and what was posted in them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from reviews.response_types.approval import controls
from reviews.response_types.approval.controls import ArgumentField, Place
from reviews.response_types.approval.edits import check_edit
from reviews.response_types.approval.names import APPROVE, EDIT, REJECT, RESPOND
from reviews.response_types.approval.proposal import Proposal
from reviews.response_types.approval.values import is_same
from reviews.response_types.base import ANSWER, Page, Typed
from reviews.response_types.faults import InvalidAnswer, InvalidFields
from reviews.response_types.posted import unify_newlines
from reviews.response_types.text import MAX_TEXT_LENGTH
from reviews.response_types.widgets import Widget, get_first
from web.sanitize import show_invisible

_FIELDS: Final = f"{ANSWER}.{EDIT}"  # posted where the fields of an edit are
_FIELD: Final = f"{_FIELDS}."
_SEPARATOR: Final = "."  # between the action and the digest of the changes that were seen


@dataclass(frozen=True, slots=True)
class ApprovalForm(Widget):
    """The buttons of the decision, and the fields of those that need more.

    `opened` is the action whose panel is open. `changed` has the arguments that may run once the
    person has seen what differs, and `seen` is then the value of the button that sends them.
    """

    kind: str = "approval"
    longest: int = MAX_TEXT_LENGTH  # characters of a reason or a message
    actions: tuple[str, ...] = ()
    fields: tuple[ArgumentField, ...] = ()
    reason: str = ""
    message: str = ""
    opened: str = ""
    changed: dict[str, Any] | None = None
    seen: str = ""

    @property
    def is_in_reach(self) -> bool:
        return True

    @property
    def has_buttons(self) -> bool:
        return True


def parse_decision(proposal: Proposal, typed: Typed, page: Page) -> tuple[dict[str, Any], str]:
    """Reads what was posted as an unchecked decision, and the digest of the changes that were seen.

    Raises InvalidFields.
    """
    action, _, seen = get_first(typed.get(ANSWER, ())).partition(_SEPARATOR)
    decision: dict[str, Any] = {"action": action}
    if action in (REJECT, RESPOND):
        message = get_first(typed.get(f"{ANSWER}.{action}", ()))
        return {**decision, "message": unify_newlines(message)}, ""
    arguments, errors = parse_arguments(proposal, typed, page)
    if errors:
        raise InvalidFields(errors)
    return {**decision, "arguments": arguments}, seen


def parse_arguments(
    proposal: Proposal, typed: Typed, page: Page
) -> tuple[dict[str, Any], dict[str, str]]:
    """Reads the arguments, and the error of each field that has one, by its name in the form.

    A field that was left as it was shown keeps its value, to the last digit and line break. So does
    every field of an approval that was sent without them.
    """
    arguments, errors = dict(proposal.arguments), {}
    names = name_fields(proposal)
    for posted_as, name in names.items() if has_fields(typed) else ():
        value, field = arguments[name], proposal.fields.get(name)
        posted = typed.get(posted_as, [])
        if controls.is_as_shown(value, field, posted, page):
            continue
        try:
            read = controls.read_value(value, field, posted, page)
            arguments[name] = check_edit(proposal, name, read)
        except InvalidAnswer as error:
            errors[posted_as] = error.args[0]
    return arguments, errors


def build_form(
    proposal: Proposal, typed: Typed, page: Page, errors: Mapping[str, str]
) -> ApprovalForm:
    """Builds the form with what was typed; after an edit without errors also what it changes."""
    names = name_fields(proposal)
    fields = tuple(
        controls.build_field(
            Place(posted_as, name, errors.get(posted_as, ""), posted_as == next(iter(errors), "")),
            proposal.arguments[name],
            proposal.fields.get(name),
            typed.get(posted_as, []) if has_fields(typed) else None,
            page,
        )
        for posted_as, name in names.items()
    )
    action = get_first(typed.get(ANSWER, ())).partition(_SEPARATOR)[0]
    changed = None
    if action == EDIT and not errors:
        arguments, faults = parse_arguments(proposal, typed, page)
        changed = None if faults or is_same(arguments, proposal.arguments) else arguments
    is_field_wrong = bool(errors.keys() & names.keys())
    return ApprovalForm(
        actions=proposal.actions,
        fields=fields,
        reason=get_first(typed.get(f"{ANSWER}.{REJECT}", ())),
        message=get_first(typed.get(f"{ANSWER}.{RESPOND}", ())),
        opened=EDIT if is_field_wrong else action if action != APPROVE else "",
        changed=changed,
        seen="" if changed is None else f"{EDIT}{_SEPARATOR}{digest(changed)}",
    )


def has_fields(typed: Typed) -> bool:
    """Tells whether the fields of an edit were posted. A group without a choice has no value."""
    is_edit = get_first(typed.get(ANSWER, ())).partition(_SEPARATOR)[0] == EDIT
    return is_edit or any(name == _FIELDS or name.startswith(_FIELD) for name in typed)


def name_fields(proposal: Proposal) -> dict[str, str]:
    """Returns the editable arguments by the names of their fields in the form."""
    places = {name: place for place, name in enumerate(proposal.arguments)}
    return {f"{_FIELD}{places[name]}": name for name in proposal.editable}


def digest(arguments: Mapping[str, Any]) -> str:
    """Returns a short digest of arguments, which tells whether a person has seen these."""
    text = json.dumps(arguments, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def format_typed(proposal: Proposal, typed: Typed) -> str:
    """Formats what was typed for people to copy: a message, and each field that was changed."""
    lines = [get_first(typed.get(f"{ANSWER}.{action}", ())) for action in (REJECT, RESPOND)]
    names = name_fields(proposal)
    lines += (
        ", ".join(posted)
        for posted_as, posted in typed.items()
        if posted_as.startswith(_FIELD) and posted_as not in names  # retention removes arguments
    )
    for posted_as, name in names.items():
        value, field = proposal.arguments[name], proposal.fields.get(name)
        posted = typed.get(posted_as, [])
        if any(posted) and not any(
            controls.is_as_shown(value, field, posted, Page(mark)) for mark in ".,"
        ):
            lines.append(f"{show_invisible(name)}: {', '.join(posted)}")
    return "\n".join(filter(str.strip, lines))
