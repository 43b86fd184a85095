"""The filter of the audit log."""

from typing import Any

from django import forms

from accounts.actions import KINDS


class AuditFilterForm(forms.Form):
    """Which entries to list; it lives in the URL."""

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
        found: dict[str, Any] = super().clean() or self.cleaned_data
        since, until = found.get("since"), found.get("until")
        if since and until and since > until:
            self.add_error("until", "The last day is before the first")
        return found
