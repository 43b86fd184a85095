"""The filter form of the audit log."""

from typing import Any

from django import forms

from accounts.actions import KINDS


class AuditFilterForm(forms.Form):
    """The filters of the audit log, as the query of its URL."""

    kind = forms.ChoiceField(label="About", required=False, choices=[("", "All"), *KINDS.items()])
    who = forms.ChoiceField(
        label="By",
        required=False,
        choices=[("", "Anyone"), ("me", "Me"), ("others", "Others")],
    )
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="To", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", "The last day is before the first")
        return cleaned
