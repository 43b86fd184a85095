"""The sections of the new request form, each for one purpose; they are closed at first.

A section is open if a field in it has an error or an unusual value: the form hides nothing that it
sends.
"""

from django import forms
from django.forms import BoundField

from dashboard.forms import policy
from dashboard.forms.answer_settings import Row, list_types
from dashboard.forms.new_request import NewRequestForm

IMAGE = ("type", "image_url")
URGENCY = ("priority", "processing_type")
DELIVERY = ("callback_url", "context", "metadata")
Rows = list[tuple[Row, list[BoundField]]]


def build_sections(form: NewRequestForm) -> dict[str, object]:
    """Returns the rows of settings outside and inside the sections, and which sections are open."""
    mandatory = {each.name for kind in list_types() for each in kind.settings if each.is_mandatory}
    rows = form.setting_rows()
    shown = [row for row in rows if mandatory & {*row[0].fields}]
    inside: Rows = [row for row in rows if row not in shown]
    rules = (*(name for row, _ in inside for name in row.fields), "required")
    return {
        "shown_rows": shown,
        "section_rows": inside,
        "is_image_open": is_open(form, IMAGE),
        "are_rules_open": is_open(form, rules),
        "is_policy_open": is_open(form, policy.FIELDS),
        "is_urgency_open": is_open(form, URGENCY),
        "is_delivery_open": is_open(form, DELIVERY),
    }


def is_open(form: forms.Form, names: tuple[str, ...]) -> bool:
    """Tells whether one of the fields has an error, or another value than its initial one."""
    return any(form[name].errors or is_changed(form, name) for name in names)


def is_changed(form: forms.Form, name: str) -> bool:
    usual = form.fields[name].initial
    value = form[name].value()
    if isinstance(form.fields[name], forms.BooleanField):
        return bool(value) != bool(usual)
    return (value or "") != (usual or "")
