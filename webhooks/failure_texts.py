"""Says why an attempt failed. Pure.

The sentences are stored in English; `find_phrase` recognises a stored one, so that a page can
translate it. What a receiver or a library said stays in their words.
"""

from typing import Final

from web.phrases import Phrase, say

SECRET_UNREADABLE: Final = say("The webhook secret can't be decrypted: its key is not set.")
ENDPOINT_OFF: Final = say("The endpoint is disabled or deleted.")
INTERNAL_ERROR: Final = say("Internal error: %(name)s.")
NO_CONNECTION: Final = say("No connection: %(reason)s.")
NOT_RESOLVED: Final = say("The name was not resolved: %(reason)s.")
NOT_RESOLVED_IN_TIME: Final = say("The name was not resolved in time.")
NOT_PUBLIC: Final = say("%(address)s is not a public address.")
NO_RESPONSE_IN_TIME: Final = say("No complete response within %(seconds)s s.")
BROKEN_OFF: Final = say("The response broke off.")
BYTES_MISSING: Final = say("The response broke off: %(count)s bytes are missing.")
NOT_NEEDED: Final = say("It is no longer needed.")
DEVICE_GONE: Final = say("The device was removed or turned off.")
_SENTENCES: Final = (
    SECRET_UNREADABLE,
    ENDPOINT_OFF,
    INTERNAL_ERROR,
    NO_CONNECTION,
    NOT_RESOLVED,
    NOT_RESOLVED_IN_TIME,
    NOT_PUBLIC,
    NO_RESPONSE_IN_TIME,
    BROKEN_OFF,
    BYTES_MISSING,
    NOT_NEEDED,
    DEVICE_GONE,
)


def find_phrase(text: str) -> str:
    """Returns the phrase of a stored sentence; any other text is returned unchanged."""
    return next(filter(None, (_read(each.template, text) for each in _SENTENCES)), text)


def _read(template: str, text: str) -> Phrase | None:
    before, value, rest = template.partition("%(")
    if not value:
        return say(template) if text == template else None
    name, _, after = rest.partition(")s")
    if not (text.startswith(before) and text.endswith(after)):
        return None
    return say(template, **{name: text[len(before) : len(text) - len(after)]})
