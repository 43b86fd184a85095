"""The first and the last day of what a page lists or a download contains."""

from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy


class SpanForm(forms.Form):
    """The days, as the query of the page's URL; both may be empty. Other filters come first."""

    since = forms.DateField(
        label=_lazy("From"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label=_lazy("To"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("since", "until"):
            self.fields[name] = self.fields.pop(name)

    def clean_until(self) -> date | None:
        until: date | None = self.cleaned_data["until"]
        since = self.cleaned_data.get("since")
        if since and until and until < since:
            raise forms.ValidationError(_("The last day is before the first"))
        return until
