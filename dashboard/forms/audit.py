"""The filter form of the audit log."""

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from accounts.actions import KINDS
from dashboard.forms.spans import SpanForm
from web.languages import translate_lazy


class AuditFilterForm(SpanForm):
    """The filters of the audit log, as the query of its URL."""

    kind = forms.ChoiceField(
        label=_lazy("About"),
        required=False,
        choices=[
            ("", _lazy("All")),
            *((kind, translate_lazy(name)) for kind, name in KINDS.items()),
        ],
    )
    who = forms.ChoiceField(
        label=_lazy("By"),
        required=False,
        choices=[("", _lazy("Anyone")), ("me", _lazy("Me")), ("others", _lazy("Others"))],
    )
