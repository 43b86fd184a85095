"""The field of one argument: how its value is shown, read and built.

An argument with a field in the proposal's schema is edited like a field of a form; every other one
by its own type in JSON.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from reviews.response_types import form_fields
from reviews.response_types.approval.edits import OTHER_TYPE
from reviews.response_types.base import Page
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.flat_schema import Field
from reviews.response_types.posted import read_number, unify_newlines
from reviews.response_types.widgets import FormField, get_first
from web.phrases import say
from web.sanitize import show_invisible
from web.strict_json import InvalidJSON, find_repeated, parse_value
from web.typed_numbers import write_number

Control = Literal["line", "lines", "number", "flag", "json", "form"]
YES: Final = "true"
NO: Final = "false"
MAX_LINE: Final = 60  # characters of a text that is edited in one line
MAX_INDENTED: Final = 4_000  # characters of JSON; longer JSON is written without line breaks
MAX_ROWS: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """A field in the form: the name under which it is posted, its argument, and its error."""

    posted_as: str
    name: str
    error: str = ""
    is_first_wrong: bool = False

    @property
    def ident(self) -> str:
        return self.posted_as.replace(".", "-")


@dataclass(frozen=True, slots=True)
class ArgumentField:
    """The controls of an argument. `form` has those of a field of the schema."""

    place: Place
    control: Control
    typed: str = ""
    title: str = ""
    is_kept: bool = False  # as it was proposed
    keyboard: Literal["decimal", "numeric", "text"] = "text"
    rows: int = 1
    form: FormField | None = None


def show_value(value: Any, field: Field | None, page: Page) -> list[str]:
    """Returns what the field of a value shows, as a browser posts it if nothing is changed."""
    if isinstance(value, bool):
        return [YES if value else NO]
    if field is not None:
        return form_fields.find_typed(replace(field, default=value), page)
    if isinstance(value, str):
        return [value]
    if isinstance(value, int | float):
        return [write_number(value, point=page.point)]
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return [text if len(text) <= MAX_INDENTED else json.dumps(value, ensure_ascii=False)]


def is_as_shown(value: Any, field: Field | None, posted: Sequence[str], page: Page) -> bool:
    """Tells whether nobody changed the field; an empty text is no value."""
    return form_fields.is_untouched(show_value(value, field, page), posted)


def read_value(value: Any, field: Field | None, posted: list[str], page: Page) -> Any:
    """Reads what a person typed for a value. Raises InvalidAnswer."""
    text = unify_newlines(get_first(posted))
    if isinstance(value, bool) or (field is not None and field.kind == "boolean"):
        return {YES: True, NO: False}.get(text)
    if field is not None:
        return _read_by_schema(field, posted, text, page)
    if isinstance(value, str):
        return text
    if isinstance(value, int | float):
        return read_number(text, point=page.point, is_whole=isinstance(value, int))
    raw = text.encode(errors="replace")
    try:
        parsed = parse_value(raw)
    except InvalidJSON as error:
        if error.line is not None:
            raise InvalidAnswer(say("Line %(line)s is not JSON", line=error.line)) from None
        raise InvalidAnswer(OTHER_TYPE[type(value)]) from None
    if repeated := find_repeated(raw):
        raise InvalidAnswer(say("The name %(name)s occurs twice", name=show_invisible(repeated)))
    return parsed


def _read_by_schema(field: Field, posted: list[str], text: str, page: Page) -> Any:
    read = form_fields.parse_field(field, posted, page)
    if read is not None:
        return read
    if field.kind == "choices":
        return []
    if field.kind == "string" and not field.format:
        return text
    raise InvalidAnswer(say("%(field)s is required", field=show_invisible(field.title)))


def build_field(
    place: Place, value: Any, field: Field | None, typed: list[str] | None, page: Page
) -> ArgumentField:
    """Builds the controls, with what was typed; None where nobody has typed yet."""
    shown = show_value(value, field, page)
    typed = shown if typed is None else typed
    is_kept = is_as_shown(value, field, typed, page)
    title = show_invisible(field.title if field else place.name)
    own = ArgumentField(place, "line", get_first(typed), title, is_kept)
    if isinstance(value, bool) or (field is not None and field.kind == "boolean"):
        return replace(own, control="flag")
    if field is not None:
        built = form_fields.build_field(
            _write_out(field),
            typed,
            page,
            name=place.posted_as,
            place=0,
            error=place.error,
            is_first_error=place.is_first_wrong,
        )
        return replace(
            own, control="form", form=replace(built, html_id=place.ident, is_kept=is_kept)
        )
    if isinstance(value, int | float):
        is_plain = isinstance(value, int) and value >= 0
        return replace(own, control="number", keyboard="numeric" if is_plain else "decimal")
    lines = get_first(shown).count("\n") + 1 + len(get_first(shown)) // MAX_LINE
    if isinstance(value, str) and lines == 1 and "\r" not in value:
        return own
    control: Control = "lines" if isinstance(value, str) else "json"
    return replace(own, control=control, rows=min(max(lines, 2), MAX_ROWS))


def _write_out(field: Field) -> Field:
    """Writes out the invisible characters of what a program says about a field."""
    return replace(
        field,
        title=show_invisible(field.title),
        description=show_invisible(field.description),
        options=tuple(replace(each, label=show_invisible(each.label)) for each in field.options),
    )
