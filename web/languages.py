"""Chooses the language of a page and translates stored English texts.

An account may choose a language; the default is that of the browser. Programs always get English:
the sentences of the API are part of its contract.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.formats import get_format, localize, number_format
from django.utils.functional import lazy
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as django_gettext_lazy

from web.phrases import Count, Phrase

ENGLISH = "en"
# Pages for operators and documents for programs are in English.
IN_ENGLISH = (
    *("/admin/", "/docs", "/openapi.json", "/webhook.schema.json", "/llms.txt"),
    *("/clients/", "/examples/", "/.well-known/", "/metrics", "/static/"),
)
TRANSLATED = ("text/html", "text/javascript", "application/manifest+json")


class LanguageMiddleware:
    """Activates the browser's language for the call, and deactivates it afterwards.

    `accounts.middleware` activates the account's own language later, if it has one.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(IN_ENGLISH):
            return self.get_response(request)
        with translation.override(read_browser_language(request)):
            response = self.get_response(request)
            if response.get("Content-Type", "").startswith(TRANSLATED):
                patch_vary_headers(response, ["Accept-Language"])
                response.headers["Content-Language"] = translation.get_language()
        return response


def read_browser_language(request: HttpRequest) -> str:
    """Returns the first language of Accept-Language that is offered, else English."""
    return translation.get_language_from_request(request)


def known_or_english(language: str) -> str:
    """Returns a stored language if it is still offered, else English."""
    return language if language in dict(settings.LANGUAGES) else ENGLISH


def translate(text: str) -> str:
    """Translates a phrase, with its values; any other text stays as it is."""
    if not isinstance(text, Phrase):
        return text
    values = {name: _translate_value(value) for name, value in text.values.items()}
    if text.plural:
        return ngettext(text.template, text.plural, text.values["count"]) % values
    return gettext(text.template) % values if values else gettext(text.template)


def _translate_value(value: Any) -> Any:
    if isinstance(value, str):
        return translate(value)
    if isinstance(value, Count):
        return number_format(int(value), use_l10n=True, force_grouping=True)
    return localize(value) if isinstance(value, Decimal | float) else value


def decimal_mark() -> str:
    """Returns the decimal mark of the page's language."""
    return str(get_format("DECIMAL_SEPARATOR"))


translate_lazy = lazy(translate, str)


def gettext_lazy(text: str) -> str:
    """Translates a constant when it is shown. Typed as `str`, because readers use it as a text."""
    return cast(str, django_gettext_lazy(text))


def describe(request: HttpRequest) -> dict[str, str]:
    """Adds the language and the direction of the page to the context of templates."""
    return describe_language()


def describe_language() -> dict[str, str]:
    return {
        "page_language": translation.get_language() or ENGLISH,
        "page_direction": "rtl" if translation.get_language_bidi() else "ltr",
    }
