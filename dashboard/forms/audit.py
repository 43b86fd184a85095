"""The filter form of the audit log."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts.actions import KINDS
from web.languages import translate_lazy


class AuditFilterForm(forms.Form):
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
    since = forms.DateField(
        label=_lazy("From"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label=_lazy("To"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", _("The last day is before the first"))
        return cleaned
