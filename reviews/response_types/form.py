"""The response type for several fields, which a flat JSON Schema describes."""

from collections.abc import Mapping
from typing import Any

from reviews.policy import FIRST
from reviews.response_types.base import (
    ANSWER,
    Answer,
    Example,
    Page,
    ResponseType,
    Setting,
    Typed,
)
from reviews.response_types.faults import (
    InvalidAnswer,
    InvalidConfiguration,
    InvalidDefault,
    InvalidFields,
)
from reviews.response_types.fields import Config, read_flag
from reviews.response_types.flat_schema import MAX_FIELDS, Field, check_labels, read_fields
from reviews.response_types.flat_values import find_fault, normalize
from reviews.response_types.form_fields import (
    build_field,
    find_typed,
    is_untouched,
    parse_field,
    write_value,
)
from reviews.response_types.widgets import Fields
from web.phrases import Count, say

MAX_CHARACTERS = 20_000  # of all texts of an answer
_PATH = "schema"


class Form(ResponseType):
    """An object with a value for each field that the reviewer filled in."""

    name = "form"
    label = say("Form")
    description = "Several fields, which a flat JSON Schema describes."
    settings = (
        Setting(
            _PATH,
            {
                "type": "object",
                "additionalProperties": True,
                "description": "A JSON Schema as elicitation in MCP 2026-07-28 allows it: an "
                f"object with at most {MAX_FIELDS} properties. Each is a string (format email, "
                "uri, date or date-time; minLength, maxLength; or enum, enumNames, oneOf of const "
                "and title), a number or integer (minimum, maximum), a boolean, or an array of "
                "options (items with enum or anyOf; minItems, maxItems), with title, description "
                "and default. `required` lists names. Other keywords are refused.",
            },
            say("Schema"),
            kind="object",
            help_text=say("A JSON Schema of one object: each property is a field of the form."),
            is_mandatory=True,
        ),
    )
    required_by_default = False
    default_schema = {
        "type": "object",
        "additionalProperties": True,
        "description": "Values by the name of the field. `required` and bounds do not apply.",
    }
    answer_noun = "an object"
    is_object = True
    rules = (FIRST,)
    example = Example(
        {
            "schema": {
                "type": "object",
                "properties": {
                    "amount": {
                        "type": "number",
                        "title": "Amount to refund",
                        "minimum": 0,
                        "maximum": 80,
                    },
                    "reason": {"type": "string", "enum": ["late", "broken", "wrong"]},
                    "note": {"type": "string", "title": "Note to the customer"},
                },
                "required": ["amount", "reason"],
            }
        },
        {"amount": 0},
    )

    def read_fields(self, config: Config) -> tuple[Field, ...]:
        """Reads the fields of a form that was asked; none if its texts were removed."""
        return read_fields(config[_PATH], path=_PATH) if _PATH in config else ()

    def check_configuration(self, config: Config) -> None:
        fields = read_fields(config.get(_PATH), path=_PATH)
        check_labels(config[_PATH], fields, path=_PATH)
        for field in fields:
            if field.default is not None:
                path = f"{_PATH}.properties.{field.name}.default"
                fault = find_fault(field, field.default, name=path)
                if fault:
                    raise InvalidConfiguration(fault)
        read_flag(config, "required", default=self.required_by_default)

    def check_default(self, config: Config, default: object) -> None:
        path = "default_response"
        if not isinstance(default, dict):
            raise InvalidDefault(say("%(field)s must be an object", field=path))
        fields = {field.name: field for field in self.read_fields(config)}
        for name, value in default.items():
            if name not in fields:
                raise InvalidDefault(_explain_unknown(path, name))
            fault = find_fault(fields[name], value, name=f"{path}.{name}", has_bounds=False)
            if fault:
                raise InvalidDefault(fault)

    def check_answer(self, config: Config, answer: object) -> Answer:
        if not isinstance(answer, dict):
            raise InvalidAnswer(say("The answer must be an object"))
        fields = self.read_fields(config)
        unknown = answer.keys() - {field.name for field in fields}
        if unknown:
            raise InvalidAnswer(_explain_unknown("response_data", min(unknown)))
        errors = _find_errors(fields, answer)
        if errors:
            raise InvalidFields(errors)
        given = [field.name for field in fields if field.name in answer]
        checked = {name: normalize(answer[name]) for name in given}
        if sum(len(value) for value in checked.values() if isinstance(value, str)) > MAX_CHARACTERS:
            most = Count(MAX_CHARACTERS)
            raise InvalidAnswer(
                say("All texts together must have at most %(most)s characters", most=most)
            )
        return checked

    def parse_form(self, config: Config, typed: Typed, page: Page) -> Answer:
        fields = self.read_fields(config)
        unknown = typed.keys() - {get_posted_name(field) for field in fields}
        if unknown:
            name = min(unknown).removeprefix(f"{ANSWER}.")
            raise InvalidAnswer(_explain_unknown("response_data", name))
        answer: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for field in fields:
            name = get_posted_name(field)
            try:
                value = _parse(field, typed.get(name, []), page)
            except InvalidAnswer as error:
                errors[name] = error.args[0]
                continue
            if value is not None:
                answer[field.name] = value
        if errors:
            rest = [field for field in fields if get_posted_name(field) not in errors]
            errors |= _find_errors(rest, answer)
            names = map(get_posted_name, fields)
            raise InvalidFields({name: errors[name] for name in names if name in errors})
        return self.check_answer(config, answer)

    def build_form(
        self, config: Config, typed: Typed, page: Page, errors: Mapping[str, str]
    ) -> Fields:
        schema, fields = config[_PATH], self.read_fields(config)
        names = [get_posted_name(field) for field in fields]
        first = next((name for name in names if name in errors), None)
        is_fresh = not typed
        return Fields(
            title=schema.get("title") or "",
            description=schema.get("description") or "",
            has_defaults=is_fresh and any(field.default is not None for field in fields),
            fields=tuple(
                build_field(
                    field,
                    find_typed(field, page) if is_fresh else typed.get(name, []),
                    page,
                    name=name,
                    place=place,
                    error=errors.get(name, ""),
                    is_first_error=name == first,
                )
                for place, (field, name) in enumerate(zip(fields, names, strict=True))
            ),
        )

    def format_typed(self, config: Config, typed: Typed) -> str:
        fields = {get_posted_name(field): field for field in self.read_fields(config)}
        lines = []
        for name, values in typed.items():
            field = fields.get(name)
            labels = {option.value: option.label for option in field.options} if field else {}
            title = field.title if field else name.removeprefix(f"{ANSWER}.")
            if any(values):
                lines.append(f"{title}: {', '.join(labels.get(each, each) for each in values)}")
        return "\n".join(lines)

    def list_parts(self, config: Config, answer: object) -> list[tuple[str, str]]:
        if not isinstance(answer, dict) or not answer:
            return []
        fields = self.read_fields(config)
        return [
            (field.title, write_value(field, answer[field.name]))
            for field in fields
            if field.name in answer
        ]

    def format_answer(self, config: Config, answer: object) -> str:
        parts = self.list_parts(config, answer)
        if not parts:
            return say("nothing")
        # the words of each field are translated, its title is not
        template = "; ".join(f"%(title{n})s: %(words{n})s" for n in range(len(parts)))
        return say(
            template,
            **{f"title{n}": title for n, (title, _) in enumerate(parts)},
            **{f"words{n}": words for n, (_, words) in enumerate(parts)},
        )


def get_posted_name(field: Field) -> str:
    """Returns the name under which a field's values are posted."""
    return f"{ANSWER}.{field.name}"


def _parse(field: Field, posted: list[str], page: Page) -> Any:
    """Parses a field. One that was left as it was shown keeps its default, to the last second.

    Raises InvalidAnswer.
    """
    if any(posted) and is_untouched(find_typed(field, page), posted):
        return field.default
    return parse_field(field, posted, page)


def _find_errors(
    fields: tuple[Field, ...] | list[Field], answer: Mapping[str, Any]
) -> dict[str, str]:
    """Returns the errors of an answer's values, by the name under which each is posted."""
    errors: dict[str, str] = {}
    for field in fields:
        fault = None
        if field.name in answer:
            fault = find_fault(field, answer[field.name], name=field.title)
        elif field.is_required:
            fault = say("%(field)s is required", field=field.title)
        if fault:
            errors[get_posted_name(field)] = fault
    return errors


def _explain_unknown(path: str, name: str) -> str:
    return say("%(field)s is no field of the schema", field=f"{path}.{name[:64]}")
