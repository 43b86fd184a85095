"""The fields of a form on the page: parses what was posted for each, and builds its controls."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from reviews.response_types.base import Page
from reviews.response_types.decimals import to_json_number
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.flat_schema import MAX_TEXT, Field
from reviews.response_types.posted import read_number, unify_newlines
from reviews.response_types.widgets import Choice, FormField, get_first
from reviews.response_types.wording import count_options
from web.pasted import trim
from web.phrases import Count, say
from web.typed_numbers import write_number

MAX_RADIOS = 7  # more options are a list to choose from
MAX_LINE = 200  # characters; longer texts have several lines
CHECKED = "true"
_INPUT_TYPES = {"email": "email", "uri": "url", "date": "date", "date-time": "datetime-local"}
_OFFSET = re.compile(r"(?:[Zz]|[+-]\d\d:\d\d)\Z")


def parse_field(field: Field, posted: list[str], page: Page) -> Any:
    """Parses the posted values of a field, None for an empty one. Raises InvalidAnswer.

    A checkbox that is not posted is false. `flat_values` checks the value.
    """
    if field.kind == "choices":
        return _parse_choices(field, posted)
    if len(posted) > 1:
        raise InvalidAnswer(say("Give one answer only"))
    text = unify_newlines(get_first(posted))
    if field.kind == "boolean":
        return bool(text)
    if field.kind in ("number", "integer"):
        return read_number(text, point=page.point, is_whole=field.kind == "integer")
    if not text.strip():
        return None
    if field.kind == "choice":
        return _find_option(field, text)
    if field.format == "date-time":
        return read_moment(trim(text), page.zone)
    return trim(text) if field.format else text


def _parse_choices(field: Field, posted: list[str]) -> list[str] | None:
    chosen = [_find_option(field, unify_newlines(each)) for each in posted if each]
    if len(set(chosen)) < len(chosen):
        return chosen  # refused by its check
    values = [option.value for option in field.options]
    known = [value for value in values if value in chosen]
    return known + [value for value in chosen if value not in values] or None


def _find_option(field: Field, posted: str) -> str:
    """Returns the posted option's value with its own line breaks."""
    values = (option.value for option in field.options)
    return next((value for value in values if unify_newlines(value) == posted), posted)


def read_moment(text: str, zone: tzinfo) -> str:
    """Reads a date and time of the page, in the person's time zone unless it names an offset.

    Where clocks are set back, the first of the two moments counts. Raises InvalidAnswer.
    """
    try:
        typed = datetime.fromisoformat(text)
        moment = typed if typed.tzinfo else typed.replace(tzinfo=zone)
        back = moment.astimezone(UTC).astimezone(moment.tzinfo)
    except (ValueError, OverflowError):
        raise InvalidAnswer(say("Enter a date and time such as 2026-12-31 18:00")) from None
    if back.replace(tzinfo=None, fold=0) != typed.replace(tzinfo=None):
        raise InvalidAnswer(
            say("Clocks are set forward then: %(time)s does not exist", time=f"{typed:%H:%M}")
        )
    offset = moment.utcoffset()
    if offset and offset.seconds % 60:  # before time zones, which no offset of JSON can say
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="seconds")


def find_typed(field: Field, page: Page) -> list[str]:
    """Returns the field's default as a person would type it on the page."""
    default = field.default
    if default is None or default is False:
        return []
    if default is True:
        return [CHECKED]
    if isinstance(default, list):
        return default
    if field.format == "date-time":
        return [_write_typed(default, page.zone)]
    return [default if isinstance(default, str) else write_number(default, point=page.point)]


def _write_typed(default: str, zone: tzinfo) -> str:
    """Writes a moment in the time zone, or with its own offset where calendars end before it."""
    try:
        local = _read_stored(default).astimezone(zone)
    except (ValueError, OverflowError):
        return default
    return local.replace(tzinfo=None).isoformat(timespec="minutes")


def is_untouched(shown: Sequence[str], posted: Sequence[str]) -> bool:
    """Tells whether a field is posted as it was shown; an empty text is no value."""
    return [unify_newlines(each) for each in posted if each] == [
        unify_newlines(each) for each in shown if each
    ]


def build_field(
    field: Field, typed: list[str], page: Page, *, name: str, place: int, **state: Any
) -> FormField:
    """Builds the controls of a field. `place` numbers it; `state` has its error."""
    common: dict[str, Any] = {
        "name": name,
        "html_id": f"field-{place}",
        "title": field.title,
        "description": field.description,
        "is_required": field.is_required,
        "rule": build_rule(field, page),
        **state,
    }
    match field.kind:
        case "boolean":
            return FormField(kind="checkbox", choices=(_build_checkbox(typed),), **common)
        case "choice" | "choices":
            return FormField(
                kind=_find_choice_kind(field), choices=build_choices(field, typed), **common
            )
        case "number" | "integer":
            return _build_number(field, typed, common)
    text = get_first(typed)
    if field.format:
        # a browser would show no moment with an offset in a datetime-local
        has_offset = field.format == "date-time" and _OFFSET.search(text)
        input_type = "text" if has_offset else _INPUT_TYPES[field.format]
        return FormField(kind="line", input_type=input_type, typed=text, **common)
    most = MAX_TEXT if field.most is None else int(field.most)
    kind = "line" if most <= MAX_LINE else "textarea"
    return FormField(kind=kind, typed=text, most=most, **common)


def _build_checkbox(typed: list[str]) -> Choice:
    return Choice(CHECKED, "", bool(get_first(typed)))


def _find_choice_kind(field: Field) -> str:
    if field.kind == "choices":
        return "checkboxes"
    return "radio" if len(field.options) <= MAX_RADIOS else "select"


def build_choices(field: Field, typed: list[str]) -> tuple[Choice, ...]:
    """Builds the choices; an optional single choice can be taken back by an empty one."""
    chosen = [_find_option(field, unify_newlines(each)) for each in typed]
    choices = tuple(
        Choice(option.value, option.label, option.value in chosen) for option in field.options
    )
    if field.kind == "choice" and not field.is_required:
        is_none = not any(choice.is_checked for choice in choices)
        return (Choice("", say("No answer"), is_none), *choices)
    return choices


def _build_number(field: Field, typed: list[str], common: dict[str, Any]) -> FormField:
    is_signed = field.least is None or field.least < 0
    # type="number" would lose mistyped input; some decimal keyboards lack the minus sign
    keyboard = "text" if is_signed else "numeric" if field.kind == "integer" else "decimal"
    return FormField(
        kind="number", typed=get_first(typed), keyboard=keyboard, is_signed=is_signed, **common
    )


def build_rule(field: Field, page: Page) -> str:
    """Builds the sentence that says which values are valid; '' if all are."""
    least, most = field.least, field.most
    if field.kind in ("number", "integer"):
        return _build_range(field)
    if field.kind == "choices":
        if least and most is not None:
            return say("Choose %(least)s to %(most)s.", least=least, most=count_options(int(most)))
        if least:
            return say("Choose at least %(options)s.", options=count_options(int(least)))
        return say("Choose at most %(options)s.", options=count_options(int(most))) if most else ""
    if field.format == "date-time":
        return say("In your time zone, %(zone)s.", zone=str(page.zone))
    if field.kind != "string" or field.format:
        return ""
    if least and least > 1:
        longest = Count(MAX_TEXT if most is None else most)
        return say("%(least)s to %(most)s characters.", least=Count(least), most=longest)
    return say("Up to %(most)s characters.", most=Count(most)) if most is not None else ""


def _build_range(field: Field) -> str:
    range_ = {"least": field.least, "most": field.most}
    is_whole = field.kind == "integer"
    if field.least is not None and field.most is not None:
        if is_whole:
            return say("A whole number from %(least)s to %(most)s.", **range_)
        return say("From %(least)s to %(most)s.", **range_)
    if field.least is not None:
        if is_whole:
            return say("A whole number, at least %(least)s.", **range_)
        return say("At least %(least)s.", **range_)
    if field.most is not None:
        if is_whole:
            return say("A whole number, at most %(most)s.", **range_)
        return say("At most %(most)s.", **range_)
    return say("A whole number.") if is_whole else ""


def write_value(field: Field, value: Any) -> str:
    """Writes a value for people: labels of options, yes and no, a moment with its offset."""
    if isinstance(value, bool):
        return say("Yes") if value else say("No")
    if to_json_number(value) is not None:
        return write_number(value, point=".")
    if isinstance(value, list):
        return ", ".join(_find_label(field, each) for each in value) or say("none")
    if field.options:
        return _find_label(field, value)
    if field.format == "date-time":
        return _write_moment(value)
    return str(value)


def _find_label(field: Field, value: Any) -> str:
    labels = {option.value: option.label for option in field.options}
    return labels.get(value, str(value))


def _read_stored(text: str) -> datetime:
    return datetime.fromisoformat(text.upper())


def _write_moment(text: str) -> str:
    try:
        moment = _read_stored(text)
    except ValueError:
        return text
    offset = f"{moment:%z}"
    zone = "UTC" if not moment.utcoffset() else f"UTC{offset[:3]}:{offset[3:5]}"
    return f"{moment:%Y-%m-%d %H:%M} {zone}"
