"""Signatures, checked by verifiers that were not written from our code."""

import base64
import hashlib
import hmac
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from accounts.webhook_secrets import Secret, is_acceptable, new_secret
from webhooks import signing

BODY = '{"event":"request.completed","text":"Größe ✓"}'.encode()


def sign(body: bytes, *secrets: Secret, plain: Secret | None = None) -> dict[str, str]:
    return signing.headers(
        message_id="0123456789abcdef01234567",
        timestamp=int(time.time()),
        body=body,
        plain_key=(plain or secrets[0]).plain_key,
        standard_keys=[secret.standard_key for secret in secrets],
    )


def test_the_headers_are_these() -> None:
    headers = signing.headers(
        message_id="msg", timestamp=1_700_000_000, body=b"{}", plain_key=b"old",
        standard_keys=[b"new", b"old"],
    )  # fmt: skip
    assert headers == {
        "X-Service-Signature-256": "sha256="
        "419f84c3dfb1dabfe377f5a34859584b8faa83144c2a3b2b72a8c4ded4e293a6",
        "webhook-id": "msg",
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1,a5E5YapWhFSaCdf3RexDm0veV63QXgc72OOPVrFMB6I= "
        "v1,0IWFEM2Q/n4NVmSQZDQvLxXyttGDnhS9rgoyYuLRmdo=",
    }


@given(st.binary(max_size=400), st.text(min_size=8, max_size=40).filter(is_acceptable))
def test_the_plain_header_is_what_the_specification_says(body: bytes, text: str) -> None:
    header = sign(body, Secret(text, issued=False))["X-Service-Signature-256"]
    digest = hmac.new(text.encode("utf-8"), body, hashlib.sha256).hexdigest()
    assert header == "sha256=" + digest


@given(st.text(max_size=200).map(str.encode))
def test_standardwebhooks_takes_issued_secrets_as_shown(body: bytes) -> None:
    secret = new_secret()
    Webhook(secret.text).verify(body, sign(body, secret), json_parse=False)


@given(st.text(min_size=8, max_size=40).filter(is_acceptable))
def test_standardwebhooks_takes_own_secrets_as_bytes(text: str) -> None:
    headers = sign(BODY, Secret(text, issued=False))
    Webhook(text.encode("utf-8")).verify(BODY, headers)


def test_both_secrets_of_a_rotation_verify_and_no_other() -> None:
    new, old, other = new_secret(), new_secret(), new_secret()
    headers = sign(BODY, new, old, plain=old)
    for secret in (new, old):
        assert Webhook(secret.text).verify(BODY, headers)["event"] == "request.completed"
    with pytest.raises(WebhookVerificationError):
        Webhook(other.text).verify(BODY, headers)


@given(st.integers(min_value=0, max_value=len(BODY) - 1), st.integers(1, 127))
def test_a_changed_byte_is_noticed(index: int, change: int) -> None:
    secret = new_secret()
    headers = sign(BODY, secret)
    changed = bytearray(BODY)
    changed[index] ^= change
    assert (
        sign(bytes(changed), secret)["X-Service-Signature-256"]
        != headers["X-Service-Signature-256"]
    )
    with pytest.raises((WebhookVerificationError, UnicodeDecodeError)):
        Webhook(secret.text).verify(bytes(changed), headers, json_parse=False)


@pytest.mark.parametrize("header", ["webhook-id", "webhook-timestamp"])
def test_id_and_time_are_signed(header: str) -> None:
    secret = new_secret()
    headers = sign(BODY, secret)
    headers[header] = str(int(headers[header], 16) - 1)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret.text).verify(BODY, headers)


def test_issued_secrets_are_32_random_bytes() -> None:
    secrets = [new_secret() for _ in range(50)]
    assert len({secret.text for secret in secrets}) == 50
    for secret in secrets:
        assert secret.text.startswith("whsec_")
        assert len(base64.b64decode(secret.text.removeprefix("whsec_"), validate=True)) == 32
        assert secret.plain_key == secret.text.encode()
