"""Template tags that list the errors of all forms of a page: `{% load form_errors %}`."""

from typing import Any

from django import template
from django.forms import BaseForm, BoundField, Field
from django.template.context import Context
from django.utils.translation import gettext

register = template.Library()

MIN_LISTED = 2  # a single error stands at its field, which has the focus


@register.simple_tag(takes_context=True)
def error_prefix(context: Context) -> str:
    """Returns the prefix of the title of a page with errors; '' for other pages."""
    return f"{gettext('Error:')} " if _find_failed(context) else ""


@register.inclusion_tag("components/error_summary.html", takes_context=True)
def error_summary(context: Context) -> dict[str, Any]:
    """Lists the errors of the page, each with a link to its field, if there are several."""
    errors = [error for form in _find_failed(context) for error in _list_errors(form)]
    return {"errors": errors if len(errors) >= MIN_LISTED else []}


def _find_failed(context: Context) -> list[BaseForm]:
    """Returns the forms of the page that were sent and not accepted.

    Compares types: `isinstance` would read the session of a lazy `user`.
    """
    values: list[Any] = list(context.flatten().values())
    found = {id(value): value for value in values if issubclass(type(value), BaseForm)}
    return [form for form in found.values() if form.is_bound and form.errors]


def _list_errors(form: BaseForm) -> list[dict[str, str]]:
    """Lists the errors of the whole form, then those of its fields in their order on the page."""
    errors = [{"id": "", "text": str(text)} for text in form.non_field_errors()]
    return errors + [
        {"id": find_id(field), "text": _name(field, str(text))}
        for field in form
        for text in field.errors
    ]


def find_id(field: BoundField) -> str:
    """Returns the id of the field's control; of several, such as radio buttons, the first one's."""
    return field.id_for_label or f"{field.auto_id}_0"


def _name(field: BoundField, text: str) -> str:
    is_nameless = text == Field.default_error_messages["required"]  # Django's own
    return f"{field.label}: {text}" if is_nameless else text
