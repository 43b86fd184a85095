"""The folded parts of the new request form: what is rarely needed, grouped by its purpose.

A part is open if something in it has an error, or a value that is not the usual one, so that
nothing that will be sent is out of sight.
"""

from django import forms
from django.forms import BoundField

from dashboard.forms.answer_settings import Row, list_types
from dashboard.forms.new_request import NewRequestForm

IMAGE = ("type", "image_url")
URGENCY = ("priority", "processing_type")
DELIVERY = ("callback_url", "context")
Rows = list[tuple[Row, list[BoundField]]]


def build_folds(form: NewRequestForm) -> dict[str, object]:
    """Returns the rows of settings that are shown and folded, and which parts are open."""
    mandatory = {each.name for kind in list_types() for each in kind.settings if each.is_mandatory}
    rows = form.setting_rows()
    shown = [row for row in rows if mandatory & {*row[0].fields}]
    folded: Rows = [row for row in rows if row not in shown]
    rules = (*(name for row, _ in folded for name in row.fields), "required")
    return {
        "shown_rows": shown,
        "folded_rows": folded,
        "is_image_open": is_open(form, IMAGE),
        "are_rules_open": is_open(form, rules),
        "is_urgency_open": is_open(form, URGENCY),
        "is_delivery_open": is_open(form, DELIVERY),
    }


def is_open(form: NewRequestForm, names: tuple[str, ...]) -> bool:
    """Whether one of the fields has an error, or a value other than the one it begins with."""
    return any(form[name].errors or is_changed(form, name) for name in names)


def is_changed(form: NewRequestForm, name: str) -> bool:
    usual = form.fields[name].initial
    value = form[name].value()
    if isinstance(form.fields[name], forms.BooleanField):
        return bool(value) != bool(usual)
    return (value or "") != (usual or "")
