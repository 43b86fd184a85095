"""Checks the arguments that a person edited."""

import json
from typing import Any, Final

from reviews.response_types.approval.proposal import Proposal
from reviews.response_types.approval.values import (
    FORBIDDEN_NAME,
    MAX_EXACT,
    find_forbidden_name,
    find_inexact,
    is_same,
)
from reviews.response_types.decimals import to_json_number
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.flat_values import find_fault, normalize
from web.json_paths import join
from web.phrases import Phrase, say
from web.sanitize import show_invisible
from web.strict_json import MAX_BYTES, MAX_DEPTH, find_unstorable, measure_depth

# The sentence about a value of another type, by the type of the proposed one.
OTHER_TYPE: Final[dict[type, Phrase]] = {
    bool: say("Choose yes or no"),
    int: say("Enter a whole number"),
    float: say("Enter a number"),
    str: say("Enter text"),
    list: say("Enter a JSON array"),
    dict: say("Enter a JSON object"),
}


def check_arguments(proposal: Proposal, arguments: object) -> tuple[dict[str, Any], list[str]]:
    """Returns the arguments that may run, and the names of the edited ones.

    Raises InvalidAnswer, which names the argument.
    """
    if not isinstance(arguments, dict) or arguments.keys() != proposal.arguments.keys():
        raise InvalidAnswer(say("Give all arguments of the proposal, and no others"))
    checked: dict[str, Any] = {}
    for name, proposed in proposal.arguments.items():
        checked[name] = proposed
        if not is_same(proposed, arguments[name]):
            try:
                checked[name] = check_edit(proposal, name, arguments[name])
            except InvalidAnswer as error:
                raise InvalidAnswer(
                    say("%(name)s: %(fault)s", name=show_invisible(name), fault=error.args[0])
                ) from None
    edited = [name for name in checked if not is_same(proposal.arguments[name], checked[name])]
    if edited and len(json.dumps(checked, ensure_ascii=False).encode()) > MAX_BYTES:
        raise InvalidAnswer(say("The arguments are too long"))
    return checked, edited


def check_edit(proposal: Proposal, name: str, value: Any) -> Any:
    """Returns an edited value in the type of the proposed one. Raises InvalidAnswer."""
    if name not in proposal.editable:
        raise InvalidAnswer(say("This can’t be changed"))
    field = proposal.fields.get(name)
    if field is None:
        value = _keep_type(name, proposal.arguments[name], value)
    elif fault := find_fault(field, value, name=show_invisible(field.title)):
        raise InvalidAnswer(fault)
    else:
        value = normalize(value)
    if find_unstorable({name: value}):
        raise InvalidAnswer(say("The value contains a character that cannot be stored"))
    if measure_depth(value) > MAX_DEPTH - 3:  # of response_config.proposal.arguments
        raise InvalidAnswer(say("The value has too many levels"))
    place = find_forbidden_name(name, value)
    if place is not None:
        raise InvalidAnswer(
            say(
                "%(field)s must not have a field named %(name)s",
                field=show_invisible(place),
                name=FORBIDDEN_NAME,
            )
        )
    place = find_inexact(name, value)
    if place is not None:
        raise InvalidAnswer(
            say(
                "%(field)s must be between %(least)s and %(most)s",
                field=show_invisible(place),
                least=-MAX_EXACT,
                most=MAX_EXACT,
            )
        )
    return value


def _keep_type(path: str, proposed: Any, value: Any, *, is_inside: bool = False) -> Any:
    """Returns the value if it has the type of the proposed one, at every depth."""
    number = to_json_number(value)
    if isinstance(proposed, float):
        value, is_kept = number, number is not None
    elif isinstance(proposed, int) and not isinstance(proposed, bool):
        value, is_kept = number, isinstance(number, int)
    else:
        is_kept = type(value) is type(proposed)
    if not is_kept:
        fault = OTHER_TYPE.get(type(proposed), say("This can’t be changed"))
        raise InvalidAnswer(
            say("%(name)s: %(fault)s", name=show_invisible(path), fault=fault)
            if is_inside
            else fault
        )
    if isinstance(proposed, dict):
        return {name: _keep_inside(path, proposed, name, value[name]) for name in value}
    if isinstance(proposed, list) and proposed:
        return [_keep_inside(path, proposed, place, each) for place, each in enumerate(value)]
    return value


def _keep_inside(path: str, proposed: Any, part: str | int, value: Any) -> Any:
    """Keeps the type of a part of an object or array. An object gets no new names.

    Further items of an array have the type of its last one.
    """
    if isinstance(part, int):
        before = proposed[min(part, len(proposed) - 1)]
    elif part in proposed:
        before = proposed[part]
    else:
        raise InvalidAnswer(
            say(
                "%(field)s must not have a field named %(name)s",
                field=show_invisible(path),
                name=show_invisible(join("", part)),
            )
        )
    return _keep_type(join(path, part), before, value, is_inside=True)
