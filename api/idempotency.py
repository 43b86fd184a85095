"""Runs a call with an Idempotency-Key once; a repeated call gets the first response."""

import hashlib
import re

from django.http import HttpRequest, HttpResponse

from accounts import idempotency, vault
from accounts.idempotency import Stored
from api.envelope import build_response
from api.errors import CallUnderWay, IdempotencyKeyReused, ValidationFailed
from web import strict_json

_KEY = re.compile(r"[\x20-\x7e]{1,255}")
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
RULE = "Idempotency-Key must be 1 to 255 printable ASCII characters"


class KeyedCall:
    """A POST with an Idempotency-Key of an account."""

    def __init__(self, request: HttpRequest, header: str, account_id: str) -> None:
        """Raises ValidationFailed."""
        self.key = parse_key(header)
        self.account_id = account_id
        self.fingerprint = compute_fingerprint(request)

    def replay(self) -> HttpResponse | None:
        """Returns the stored response, None where there is none. Raises IdempotencyKeyReused."""
        stored = idempotency.find_response(account_id=self.account_id, key=self.key)
        if stored is None:
            return None
        if stored.fingerprint != self.fingerprint:
            raise IdempotencyKeyReused
        response = build_response(open_body(stored.body), status=stored.status)
        response["Idempotent-Replayed"] = "true"
        return response

    def begin(self) -> None:
        """Locks the key until the transaction ends. Raises CallUnderWay."""
        if not idempotency.lock_key(account_id=self.account_id, key=self.key):
            raise CallUnderWay

    def store(self, response: HttpResponse, *, is_sealed: bool = False) -> None:
        """Stores the response in the transaction of what the call has made."""
        body = vault.seal(response.content.decode()) if is_sealed else response.content
        stored = Stored(self.fingerprint, response.status_code, body)
        idempotency.store_response(stored, account_id=self.account_id, key=self.key)


def open_body(stored: bytes) -> bytes:
    """Returns the stored body, decrypted unless it begins as JSON. Raises vault.Unreadable."""
    return stored if stored.startswith(b"{") else vault.open_sealed(stored).encode()


def parse_key(header: str) -> str:
    """Reads the key, which may be quoted like a string of a structured field.

    Raises ValidationFailed.
    """
    text = header.strip()
    if quoted := _QUOTED.fullmatch(text):
        text = re.sub(r"\\(.)", r"\1", quoted[1])
    if not _KEY.fullmatch(text):
        raise ValidationFailed(RULE)
    return text


def compute_fingerprint(request: HttpRequest) -> bytes:
    """Computes the SHA-256 of method, path and body."""
    try:
        body = strict_json.read_bytes(request)
    except strict_json.InvalidJSON:
        body = b""  # the view refuses such a body, and nothing is stored
    return hashlib.sha256(f"{request.method} {request.path}\n".encode() + body).digest()
