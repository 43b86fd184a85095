"""The form of the days from which a loop's decisions are downloaded."""

from datetime import date

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy


class DecisionsForm(forms.Form):
    """The first and the last day, as the query of the download's URL; both may be empty."""

    since = forms.DateField(
        label=_lazy("From"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label=_lazy("To"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def clean_until(self) -> date | None:
        until: date | None = self.cleaned_data["until"]
        since = self.cleaned_data.get("since")
        if since and until and until < since:
            raise forms.ValidationError(_("The last day is before the first"))
        return until
