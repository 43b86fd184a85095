"""Reads the `response_config` of an approval: the proposed call, and how people may decide."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from reviews.response_types.approval.names import ACTIONS, EDIT, OFFERED_BY_DEFAULT, RISKS
from reviews.response_types.approval.values import (
    FORBIDDEN_NAME,
    MAX_EXACT,
    find_forbidden_name,
    find_inexact,
)
from reviews.response_types.faults import InvalidConfiguration
from reviews.response_types.fields import Config
from reviews.response_types.flat_schema import Field, read_fields
from reviews.response_types.flat_values import find_fault
from web.phrases import say

MAX_NAME: Final = 200  # characters of the call's name, of its title and of an argument's name
MAX_ARGUMENTS: Final = 100


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that a program wants to make, and what a person may do about it.

    `editable` has the names of the arguments that a person may change.
    """

    name: str
    arguments: dict[str, Any]
    title: str
    risk: str  # '' if the program does not say
    actions: tuple[str, ...]
    editable: tuple[str, ...]
    fields: Mapping[str, Field]  # of the schema, by the names of their arguments


def read_proposal(config: Config) -> Proposal:
    """Raises InvalidConfiguration, which names the field by its path in `response_config`."""
    proposal = config.get("proposal")
    if proposal is None:
        raise InvalidConfiguration(say("%(field)s is required", field="proposal"))
    if not isinstance(proposal, dict):
        raise InvalidConfiguration(say("%(field)s must be an object", field="proposal"))
    name = _read_line(proposal, "name")
    if not name.strip():
        raise InvalidConfiguration(say("%(field)s is required", field="proposal.name"))
    arguments = _read_arguments(proposal)
    fields = _read_schema(proposal, arguments)
    actions = _read_actions(config)
    return Proposal(
        name=name,
        arguments=arguments,
        title=_read_line(proposal, "title"),
        risk=_read_risk(proposal),
        actions=actions,
        editable=_read_editable(config, _list_editable(arguments, fields), arguments, actions),
        fields=fields,
    )


def _read_line(proposal: Mapping[str, Any], name: str) -> str:
    text = proposal.get(name)
    field = f"proposal.{name}"
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InvalidConfiguration(say("%(field)s must be a string", field=field))
    _check_length(field, text)
    return text


def _check_length(field: str, text: str) -> None:
    if len(text) > MAX_NAME:
        raise InvalidConfiguration(
            say("%(field)s must have at most %(most)s characters", field=field, most=MAX_NAME)
        )


def _read_arguments(proposal: Mapping[str, Any]) -> dict[str, Any]:
    field = "proposal.arguments"
    arguments = proposal.get("arguments")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise InvalidConfiguration(say("%(field)s must be an object", field=field))
    if len(arguments) > MAX_ARGUMENTS:
        raise InvalidConfiguration(
            say("%(field)s must have at most %(most)s fields", field=field, most=MAX_ARGUMENTS)
        )
    for name in arguments:
        if not name.strip():
            raise InvalidConfiguration(say("%(field)s must not have a blank name", field=field))
        if len(name) > MAX_NAME:
            raise InvalidConfiguration(
                say(
                    "%(field)s must have names of at most %(most)s characters",
                    field=field,
                    most=MAX_NAME,
                )
            )
    check_values(field, arguments)
    return arguments


def check_values(field: str, value: Any) -> None:
    """Raises InvalidConfiguration unless all programs read the value alike."""
    place = find_forbidden_name(field, value)
    if place is not None:
        raise InvalidConfiguration(
            say("%(field)s must not have a field named %(name)s", field=place, name=FORBIDDEN_NAME)
        )
    place = find_inexact(field, value)
    if place is not None:
        raise InvalidConfiguration(
            say(
                "%(field)s must be between %(least)s and %(most)s. "
                "Send a number beyond them as a string",
                field=place,
                least=-MAX_EXACT,
                most=MAX_EXACT,
            )
        )


def _read_schema(proposal: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Field]:
    """Returns the fields of the schema. null is a value of every field that is not required."""
    schema = proposal.get("schema")
    if schema is None:
        return {}
    fields = {field.name: field for field in read_fields(schema, path="proposal.schema")}
    for name, field in fields.items():
        path = f"proposal.arguments.{name}"
        value = arguments.get(name)
        if value is not None:
            fault = find_fault(field, value, name=path)
        else:
            fault = say("%(field)s is required", field=path) if field.is_required else None
        if fault:
            raise InvalidConfiguration(fault)
    if schema.get("additionalProperties") is False:
        for name in arguments.keys() - fields.keys():
            raise InvalidConfiguration(
                say(
                    "%(field)s is no field of %(other)s",
                    field=f"proposal.arguments.{name}",
                    other="proposal.schema",
                )
            )
    return fields


def _list_editable(arguments: Mapping[str, Any], fields: Mapping[str, Field]) -> tuple[str, ...]:
    """Returns the arguments whose type is known: null has one only by the schema."""
    return tuple(name for name in arguments if arguments[name] is not None or name in fields)


def _read_risk(proposal: Mapping[str, Any]) -> str:
    risk = proposal.get("risk")
    if risk is not None and (not isinstance(risk, str) or risk not in RISKS):
        raise InvalidConfiguration(
            say("%(field)s must be one of: %(names)s", field="proposal.risk", names=_join(RISKS))
        )
    return risk or ""


def _read_actions(config: Config) -> tuple[str, ...]:
    actions = config.get("actions")
    if actions is None:
        return OFFERED_BY_DEFAULT
    if not isinstance(actions, list):
        raise InvalidConfiguration(say("%(field)s must be an array", field="actions"))
    if not actions:
        raise InvalidConfiguration(say("%(field)s must not be empty", field="actions"))
    for place, action in enumerate(actions):
        if not isinstance(action, str) or action not in ACTIONS:
            field = f"actions[{place}]"
            raise InvalidConfiguration(
                say("%(field)s must be one of: %(names)s", field=field, names=_join(ACTIONS))
            )
    if len(set(actions)) < len(actions):
        raise InvalidConfiguration(
            say("%(field)s must not contain an action twice", field="actions")
        )
    return tuple(action for action in ACTIONS if action in actions)


def _read_editable(
    config: Config,
    possible: tuple[str, ...],
    arguments: Mapping[str, Any],
    actions: tuple[str, ...],
) -> tuple[str, ...]:
    editable = config.get("editable")
    if EDIT not in actions:
        if editable is not None:
            raise InvalidConfiguration(say("%(field)s needs the action edit", field="editable"))
        return ()
    if editable is None or editable is True:
        names = possible
    else:
        names = _read_names(editable, possible, arguments)
    if not names:
        raise InvalidConfiguration(
            say("%(field)s must not contain edit without an argument to edit", field="actions")
        )
    return names


def _read_names(
    editable: object, possible: tuple[str, ...], arguments: Mapping[str, Any]
) -> tuple[str, ...]:
    if not isinstance(editable, list):
        raise InvalidConfiguration(
            say("%(field)s must be true or an array of argument names", field="editable")
        )
    for place, name in enumerate(editable):
        field = f"editable[{place}]"
        if not isinstance(name, str) or name not in arguments:
            raise InvalidConfiguration(
                say("%(field)s must be the name of an argument", field=field)
            )
        if name not in possible:
            raise InvalidConfiguration(
                say(
                    "%(field)s must be an argument with a value, or have a field in %(other)s",
                    field=field,
                    other="proposal.schema",
                )
            )
    # in the order of the arguments, like every list of them
    return tuple(name for name in arguments if name in editable)


def _join(names: tuple[str, ...]) -> str:
    return ", ".join(names)
