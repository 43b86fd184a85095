"""The forms of the delivery log: filter, test event, and resending dead deliveries."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from dashboard.forms.receiver_url import ReceiverUrlField
from reviews.lifecycle import states
from web.pasted import trim
from web.web_urls import MAX_URL_LENGTH
from webhooks.emission import host_of
from webhooks.models import TEST_EVENT, Delivery
from webhooks.queries import FAILING

EVENTS = (*states.CHOICES, TEST_EVENT)
_WAITING, *_ENDED = Delivery.State.choices
STATES = (_WAITING, (FAILING, _lazy("Failing")), *_ENDED)
MAX_SELECTED = 50  # a page of the log


class FilterForm(forms.Form):
    """The filters of the delivery log, as the query of its URL."""

    state = forms.ChoiceField(
        label=_lazy("State"), required=False, choices=[("", _lazy("All states")), *STATES]
    )
    event = forms.ChoiceField(
        label=_lazy("Event"),
        required=False,
        choices=[("", _lazy("All events")), *((name, name) for name in EVENTS)],
    )
    host = forms.CharField(
        label=_lazy("Host"),
        required=False,
        max_length=MAX_URL_LENGTH,
        widget=forms.TextInput(
            {
                "list": "hosts",
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
            }
        ),
    )

    def clean_host(self) -> str:
        """Accepts a host or a whole URL. Raises ValidationError for any other text."""
        typed = trim(self.cleaned_data["host"])
        try:
            return host_of(typed if "//" in typed else f"//{typed}")
        except ValueError:
            raise forms.ValidationError(_("Enter a host, such as example.com")) from None


class TestEventForm(forms.Form):
    """The URL for a test event."""

    url = ReceiverUrlField(
        help_text=_lazy("We send an empty, signed event there within a second or two.")
    )


class ResendDeadForm(forms.Form):
    """The creation time from which dead deliveries are sent again."""

    since = forms.DateTimeField(
        label=_lazy("Dead deliveries created since"),
        error_messages={
            "required": _lazy("Enter a start time"),
            "invalid": _lazy("Enter a date and time, such as 2026-03-31T18:00"),
        },
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zone = timezone.get_current_timezone_name()
        self.fields["since"].help_text = _("In your time zone (%(zone)s).") % {"zone": zone}

    def clean_since(self) -> datetime:
        since: datetime = self.cleaned_data["since"]
        if since > timezone.now():
            raise forms.ValidationError(_("Enter a time in the past, in your time zone"))
        return since
