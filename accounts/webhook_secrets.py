"""Creates and checks webhook secrets and their signing keys (docs/webhooks.md). Pure."""

import base64
import secrets
from dataclasses import dataclass

from web.sanitize import UNSTORABLE

PREFIX = "whsec_"
MIN_LENGTH, MAX_LENGTH = 8, 256


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret as shown. If `issued`, we created it: `whsec_` and the base64 of 32 bytes."""

    text: str
    issued: bool

    @property
    def plain_key(self) -> bytes:
        """The key of the single-valued signature header."""
        return self.text.encode()

    @property
    def standard_key(self) -> bytes:
        """The key of the Standard Webhooks signature."""
        if self.issued:
            return base64.b64decode(self.text.removeprefix(PREFIX))
        return self.text.encode()


def new_secret() -> Secret:
    """Creates a random secret."""
    return Secret(PREFIX + base64.b64encode(secrets.token_bytes(32)).decode(), issued=True)


def is_of_standard(text: str) -> bool:
    """Tells whether the text has the form of Standard Webhooks, allowed for issued secrets."""
    return text.startswith(PREFIX)


def is_acceptable(text: str) -> bool:
    """Tells whether a holder may set this secret: 8-256 characters, not blank, storable."""
    is_storable = not UNSTORABLE.search(text)
    return MIN_LENGTH <= len(text) <= MAX_LENGTH and bool(text.strip()) and is_storable
