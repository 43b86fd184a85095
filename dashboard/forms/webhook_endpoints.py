"""The form of a webhook endpoint, new or changed."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts.models import WebhookEndpoint
from dashboard.forms.receiver_url import ReceiverUrlField
from dashboard.loop_choices import format_choices, read_loop_choices
from loops.models import Loop
from reviews.lifecycle.states import CHOICES, EVENTS
from web.bidi import isolate
from webhooks.endpoints import NotPublic, check_address

ALL, CHOSEN = "all", "chosen"
MEANINGS = {
    "request.created": _lazy("A request was created"),
    "request.claimed": _lazy("Somebody began to work on it"),
    "request.completed": _lazy("It was answered"),
    "request.timeout": _lazy("It ended with its default response"),
    "request.cancelled": _lazy("It was cancelled"),
}


class EndpointForm(forms.Form):
    """The URL of a receiver, its events and its loops."""

    url = ReceiverUrlField()
    events = forms.MultipleChoiceField(
        label=_lazy("Events"),
        choices=list(MEANINGS.items()),
        initial=list(EVENTS),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _lazy("Choose at least one event")},
    )
    scope = forms.ChoiceField(
        label=_lazy("Loops"),
        choices=[(ALL, _lazy("All loops, also later ones")), (CHOSEN, _lazy("Only these loops"))],
        initial=ALL,
        widget=forms.RadioSelect,
        error_messages={"required": _lazy("Choose the loops")},
    )
    loops = forms.MultipleChoiceField(
        label=_lazy("These loops"), required=False, widget=forms.CheckboxSelectMultiple
    )
    once = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        account_id: str,
        endpoint: WebhookEndpoint | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        loops: Any = self.fields["loops"]
        loops.choices = read_choices(account_id, (endpoint and endpoint.loop_ids) or [])
        if not loops.choices:
            del self.fields["scope"], self.fields["loops"]

    @staticmethod
    def build_initial(endpoint: WebhookEndpoint) -> dict[str, Any]:
        """Returns the fields of an endpoint as the form shows them."""
        return {
            "url": endpoint.url,
            "events": endpoint.events,
            "scope": ALL if endpoint.loop_ids is None else CHOSEN,
            "loops": endpoint.loop_ids or [],
        }

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            check_address(url)
        except NotPublic:
            raise forms.ValidationError(
                _("Webhooks only go to public addresses, and this is none")
            ) from None
        return url

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or self.cleaned_data
        if fields.get("scope") == CHOSEN and not fields.get("loops"):
            self.add_error("loops", _("Choose at least one loop, or all loops"))
        return fields

    def read_fields(self) -> dict[str, Any]:
        """Returns the valid fields under the names of their columns."""
        fields = self.cleaned_data
        is_chosen = fields.get("scope") == CHOSEN
        return {
            "url": fields["url"],
            "events": [name for name in CHOICES if name in fields["events"]],
            "loop_ids": fields["loops"] if is_chosen else None,
        }


def read_choices(account_id: str, chosen: list[str]) -> list[tuple[str, str]]:
    """Returns the account's newest loops and the chosen ones, which may be deleted."""
    choices = dict(format_choices(read_loop_choices(account_id, "")))
    missing = [loop_id for loop_id in chosen if loop_id not in choices]
    rows = Loop.objects.filter(pk__in=missing, creator_id=account_id)
    for loop in rows.only("name", "deleted_at"):
        label = dict(format_choices([loop]))[loop.pk]
        choices[loop.pk] = (
            _("%(name)s (deleted)") % {"name": isolate(label)} if loop.deleted_at else label
        )
    return list(choices.items())
