"""The client verifies what our own code signs and delivers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reviewloop import InvalidSignature, webhooks

from accounts import secret_services
from accounts.models import User
from accounts.webhook_secrets import Secret, new_secret
from outbox.dispatcher import Dispatcher
from tests.webhooks.conftest import Emit, dispatcher, emit_to, receiver
from tests.webhooks.receivers import Received, Receiver
from webhooks import signing

__all__ = ["dispatcher", "emit_to", "receiver"]  # fixtures

BODY = '{"event": "request.completed", "response_data": "Größe ✓"}'.encode()
CHOSEN = Secret("a secret of our own ✓", issued=False)
NOW = 1_800_000_000


def sign(*secrets: Secret, body: bytes = BODY, timestamp: int = NOW) -> dict[str, str]:
    return signing.headers(
        message_id="msg_1",
        timestamp=timestamp,
        body=body,
        plain_key=secrets[0].plain_key,
        standard_keys=[secret.standard_key for secret in secrets],
    )


@pytest.mark.parametrize("secret", [new_secret(), CHOSEN])
def test_what_we_sign_is_genuine(secret: Secret) -> None:
    headers = sign(secret)
    event = webhooks.verify(BODY, headers, secret.text, now=NOW)
    assert event == json.loads(BODY)
    assert webhooks.verify_body(BODY, headers, secret.text) == event
    upper = {name.upper(): value for name, value in headers.items()}
    assert webhooks.verify(BODY, upper, ["another", secret.text], now=NOW) == event


@pytest.mark.parametrize("shape", [bytes, bytearray, memoryview, bytes.decode])
def test_a_raw_body_of_any_shape(shape: Any) -> None:
    headers = sign(CHOSEN)
    event = json.loads(BODY)
    assert webhooks.verify(shape(BODY), headers, CHOSEN.text, now=NOW) == event
    assert webhooks.verify_body(shape(BODY), headers, CHOSEN.text) == event
    part = memoryview(b"#" + BODY + b"#")[1:-1]
    assert webhooks.verify(part, headers, CHOSEN.text, now=NOW) == event


@pytest.mark.parametrize("body", [json.loads(BODY), None, 5, [BODY]])
def test_a_parsed_body(body: Any) -> None:
    headers = sign(CHOSEN)
    with pytest.raises(TypeError, match="raw bytes"):
        webhooks.verify(body, headers, CHOSEN.text, now=NOW)
    with pytest.raises(TypeError, match="raw bytes"):
        webhooks.verify_body(body, headers, CHOSEN.text)


def test_a_rotation() -> None:
    """The sender signs with both; a receiver may know the old one, the new one, or both."""
    old, new = new_secret(), new_secret()
    headers = sign(old, new)
    for known in (old.text, new.text, [old.text, new.text]):
        webhooks.verify(BODY, headers, known, now=NOW)
    for known in (old.text, [new.text, old.text]):
        webhooks.verify_body(BODY, headers, known)
    with pytest.raises(InvalidSignature):
        webhooks.verify_body(BODY, headers, new.text)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_changed_or_missing_header(name: str) -> None:
    headers = sign(CHOSEN)
    for changed in (
        {**headers, name: headers[name][:-2]},
        {**headers, name: ""},
        {**headers, name: "²"},
    ):
        with pytest.raises(InvalidSignature):
            webhooks.verify(BODY, changed, CHOSEN.text, now=NOW)
    del headers[name]
    with pytest.raises(InvalidSignature):
        webhooks.verify(BODY, headers, CHOSEN.text, now=NOW)


@given(st.binary(), st.text(max_size=40))
def test_nothing_else_is_genuine(body: bytes, signature: str) -> None:
    headers = sign(CHOSEN)
    if body != BODY:
        with pytest.raises(InvalidSignature):
            webhooks.verify(body, headers, CHOSEN.text, now=NOW)
        with pytest.raises(InvalidSignature):
            webhooks.verify_body(body, headers, CHOSEN.text)
    forged = {**headers, "webhook-signature": signature, "X-Service-Signature-256": signature}
    with pytest.raises(InvalidSignature):
        webhooks.verify(BODY, forged, CHOSEN.text, now=NOW)
    with pytest.raises(InvalidSignature):
        webhooks.verify_body(BODY, forged, CHOSEN.text)


def test_the_tolerance() -> None:
    headers = sign(CHOSEN)
    for away in (-300, 300):
        webhooks.verify(BODY, headers, CHOSEN.text, now=NOW + away)
    for away in (-301, 301):
        with pytest.raises(InvalidSignature, match="more than 300 s away"):
            webhooks.verify(BODY, headers, CHOSEN.text, now=NOW + away)
    webhooks.verify(BODY, headers, CHOSEN.text, now=NOW + 900, tolerance=900)


@pytest.mark.parametrize("secret", ["", [], ["", "other"], "whsec_no base64", "whsec_"])
def test_an_unusable_secret_is_no_forgery(secret: str | list[str]) -> None:
    with pytest.raises(ValueError):
        webhooks.verify(BODY, sign(CHOSEN), secret, now=NOW)


@pytest.mark.django_db(transaction=True)
def test_a_real_delivery_during_a_rotation(
    owner: User, receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    old = secret_services.read_secrets(owner.pk).current.text
    deliver(emit_to, receiver, dispatcher, [old])
    secret_services.rotate_secret(account=owner)
    new = secret_services.read_secrets(owner.pk).current.text
    got = deliver(emit_to, receiver, dispatcher, [old, new])
    with pytest.raises(InvalidSignature):
        webhooks.verify(got.body, got.headers, "whsec_AAAA")


def deliver(
    emit_to: Emit, receiver: Receiver, dispatcher: Dispatcher[Any], known: list[str]
) -> Received:
    """Delivers an event and verifies it with each of the secrets."""
    emit_to(receiver.url)
    assert dispatcher.run_due() == 1
    got = receiver.got[-1]
    for secret in known:
        assert webhooks.verify(got.body, got.headers, secret)["response_data"] == "Größe ✓"
    assert webhooks.verify_body(got.body, got.headers, known)["event"] == "request.completed"
    return got
