"""A form field for the URL of a receiver of webhooks."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from web.url_fields import UrlField
from web.web_urls import MAX_URL_LENGTH, is_web_url


class ReceiverUrlField(UrlField):
    """A full URL, with the same rules as a callback_url."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            label="URL",
            error_messages={"required": _lazy("Enter the URL of a receiver")},
            widget=forms.URLInput(
                attrs={"autocomplete": "url", "maxlength": MAX_URL_LENGTH, "spellcheck": "false"}
            ),
            **options,
        )

    def validate(self, value: str) -> None:
        super().validate(value)
        if not is_web_url(value):
            raise forms.ValidationError(
                _(
                    "Enter a full URL, such as https://example.com/hook, of at most"
                    " %(max_url_length)s characters"
                )
                % {"max_url_length": MAX_URL_LENGTH}
            )
