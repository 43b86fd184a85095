"""What receivers can verify of real deliveries, before, during and after a rotation (gap 44)."""

import hashlib
import hmac
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import Settings
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from accounts import secret_services
from accounts.models import User, WebhookSecret
from outbox.dispatcher import Dispatcher
from tests.webhooks.conftest import Emit, attempt_and_record, claim, fresh, make_due
from tests.webhooks.receivers import Received, Receiver, Reply
from webhooks.models import Attempt

pytestmark = pytest.mark.django_db(transaction=True)
OTHER_KEY = "QW5vdGhlciBrZXkgZm9yIHRlc3RzLCAzMiBieXRlcyE="


def plain_header_matches(got: Received, secret: str) -> bool:
    """Follows docs/webhooks.md alone: `sha256=` and the lowercase hex HMAC-SHA256 of the raw body,
    keyed with the webhook secret."""
    digest = hmac.new(secret.encode("utf-8"), got.body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(got.headers["x-service-signature-256"], "sha256=" + digest)


def standard_webhooks_match(got: Received, secret: str | bytes) -> bool:
    try:
        Webhook(secret).verify(got.body, dict(got.headers))
    except WebhookVerificationError:
        return False
    return True


def secret_of(account: User) -> str:
    return secret_services.read_secrets(account.pk).current.text


@pytest.fixture
def deliver(receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit) -> "Deliver":
    return Deliver(receiver, dispatcher, emit_to)


class Deliver:
    """`deliver()` is what the receiver got of a fresh event."""

    def __init__(self, receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit) -> None:
        self.receiver, self.dispatcher, self.emit_to = receiver, dispatcher, emit_to

    def __call__(self, account: User | None = None) -> Received:
        before = len(self.receiver.got)
        self.emit_to(self.receiver.url, account)
        assert self.dispatcher.run_due() == 1
        (got,) = self.receiver.got[before:]
        return got


def test_an_issued_secret(deliver: Deliver, owner: User, member: User) -> None:
    got = deliver()
    secret = secret_of(owner)
    assert secret.startswith("whsec_")
    assert plain_header_matches(got, secret)
    assert standard_webhooks_match(got, secret)
    other = secret_of(member)
    assert not plain_header_matches(got, other)
    assert not standard_webhooks_match(got, other)
    assert plain_header_matches(deliver(member), other)


@pytest.mark.parametrize(
    "text",
    ["hunter2hunter2", "ключ-€-пароль", "blanks  count  inside", "x" * 256],
)
def test_an_own_secret_keys_both_with_its_bytes(deliver: Deliver, owner: User, text: str) -> None:
    secret_services.set_secret(account=owner, text=text)
    got = deliver()
    assert plain_header_matches(got, text)
    assert standard_webhooks_match(got, text.encode("utf-8"))


def test_a_set_secret_counts_from_the_next_attempt(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit, owner: User
) -> None:
    receiver.respond = lambda _: Reply(500)
    (delivery,) = emit_to(receiver.url)
    dispatcher.run_due()
    old = secret_of(owner)
    secret_services.set_secret(account=owner, text="a secret of my own")
    make_due(delivery)
    dispatcher.run_due()
    first, second = receiver.got
    assert plain_header_matches(first, old)
    assert plain_header_matches(second, "a secret of my own")
    assert not plain_header_matches(second, old)
    assert not standard_webhooks_match(second, old)


def test_a_rotation_from_its_beginning_to_its_end(deliver: Deliver, owner: User) -> None:
    """Either secret verifies the trio; the single-valued header stays on the old one."""
    old = secret_of(owner)
    new = secret_services.rotate_secret(account=owner).text
    assert new != old
    got = deliver()
    assert len(got.headers["webhook-signature"].split(" ")) == 2
    assert standard_webhooks_match(got, old)
    assert standard_webhooks_match(got, new)
    assert plain_header_matches(got, old)
    assert not plain_header_matches(got, new)

    almost = Now() + timedelta(seconds=30)
    WebhookSecret.objects.filter(pk=owner.pk).update(previous_until=almost)
    assert plain_header_matches(deliver(), old)

    WebhookSecret.objects.filter(pk=owner.pk).update(previous_until=Now())
    got = deliver()
    assert standard_webhooks_match(got, new)
    assert plain_header_matches(got, new)
    assert not standard_webhooks_match(got, old)
    assert len(got.headers["webhook-signature"].split(" ")) == 1


def test_the_holder_ends_a_rotation(deliver: Deliver, owner: User) -> None:
    old = secret_of(owner)
    new = secret_services.rotate_secret(account=owner).text
    secret_services.end_rotation(account=owner)
    got = deliver()
    assert plain_header_matches(got, new)
    assert not standard_webhooks_match(got, old)


def test_rotating_an_own_secret(deliver: Deliver, owner: User) -> None:
    secret_services.set_secret(account=owner, text="a secret of my own")
    new = secret_services.rotate_secret(account=owner).text
    got = deliver()
    assert plain_header_matches(got, "a secret of my own")
    assert standard_webhooks_match(got, b"a secret of my own")
    assert standard_webhooks_match(got, new)


def test_a_set_secret_ends_a_rotation(deliver: Deliver, owner: User) -> None:
    old = secret_of(owner)
    secret_services.rotate_secret(account=owner)
    secret_services.set_secret(account=owner, text="a secret of my own")
    got = deliver()
    assert plain_header_matches(got, "a secret of my own")
    assert not standard_webhooks_match(got, old)
    assert len(got.headers["webhook-signature"].split(" ")) == 1


def test_a_secret_that_nobody_can_read_is_its_accounts_trouble_alone(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit,
    owner: User, member: User, settings: Settings,
) -> None:  # fmt: skip
    secret_of(owner)
    settings.ENCRYPTION_KEYS = [OTHER_KEY]
    (lost,) = emit_to(receiver.url)
    (fine,) = emit_to(receiver.url, member)
    assert dispatcher.run_due() == 2
    assert [got.webhook_id for got in receiver.got] == [fine.pk]
    assert (fresh(lost).state, fresh(lost).failed_attempts) == ("waiting", 1)
    attempt = Attempt.objects.get(delivery=lost)
    assert attempt.error == "The webhook secret can't be decrypted: its key is not set."


def test_a_secret_counts_for_what_was_claimed_before_it_was_set(
    receiver: Receiver, emit_to: Emit, owner: User
) -> None:
    old = secret_of(owner)
    emit_to(receiver.url, count=2)
    first, second = claim(2)
    attempt_and_record(first)
    secret_services.set_secret(account=owner, text="a secret of my own")
    attempt_and_record(second)
    assert plain_header_matches(receiver.got[0], old)
    assert plain_header_matches(receiver.got[1], "a secret of my own")
