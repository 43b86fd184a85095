"""A form field for how many days a loop keeps something."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _

from loops.retention import MAX_DAYS, MIN_DAYS
from web.humanize import format_count
from web.number_fields import read_whole_number
from web.typed_numbers import NotANumber


class DaysField(forms.CharField):
    """A number of days; an empty field is None, the limit of the service."""

    widget = forms.TextInput

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_length=20, **options)
        self.widget.attrs |= {"inputmode": "numeric", "autocomplete": "off", "class": "number"}
        self._limit: int | None = None

    def set_limit(self, limit: int | None) -> None:
        """Sets the limit of the service in days, None for no limit."""
        self._limit = limit
        empty = _("Empty: never.")
        if limit:
            empty = _("Empty: after %(days)s days, like the whole service.")
            empty %= {"days": format_count(limit)}
        self.help_text = f"{self.help_text} {empty}"

    def clean(self, value: Any) -> Any:
        try:
            days = read_whole_number(super().clean(value))
        except NotANumber:
            days = 0
        if days is None:
            return None
        most = self._limit or MAX_DAYS
        if not MIN_DAYS <= days <= most:
            raise forms.ValidationError(
                _("Enter a whole number of days from %(least)s to %(most)s")
                % {"least": MIN_DAYS, "most": format_count(most)}
            )
        return days
