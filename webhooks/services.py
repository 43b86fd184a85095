"""Sends test events, and has deliveries attempted again."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now

from accounts import secret_services
from accounts.models import User, WebhookEndpoint
from db.ids import owned_id
from db.times import iso
from webhooks.emission import Event, enqueue
from webhooks.models import TEST_EVENT, Circuit, Delivery

MAX_TESTS = 5  # test events of an account that wait or are under way


class NotResendable(Exception):
    """An attempt to deliver it is under way."""


class OnlyOnce(Exception):
    """A test event is attempted once."""


class TooManyTests(Exception):
    """The account has as many test events waiting as it may have."""


def resend(*, account_id: str, delivery_id: str) -> None:
    """Makes a delivery due now, with a fresh schedule after that.

    Raises Delivery.DoesNotExist, NotResendable, OnlyOnce.
    """
    mine = Delivery.objects.of_account(account_id)
    if mine.filter(pk=delivery_id, event=TEST_EVENT).exists():
        raise OnlyOnce
    settled = mine.exclude(state=Delivery.State.WAITING, claim_id__isnull=False)
    if not _make_due(settled.filter(pk=delivery_id)):
        mine.get(pk=delivery_id)
        raise NotResendable


@dataclass(frozen=True, slots=True)
class Resent:
    """How many of the selected deliveries are due again, and why the others are not."""

    due: int
    running: int  # an attempt is under way
    tests: int  # test events, which are attempted once


@transaction.atomic
def resend_selected(*, account_id: str, delivery_ids: Collection[str]) -> Resent:
    """Makes the account's deliveries among these due now, and ignores other ids."""
    mine = Delivery.objects.of_account(account_id).filter(pk__in=delivery_ids)
    ordered = mine.order_by("pk").select_for_update(no_key=True)  # two at once never deadlock
    rows = ordered.values_list("pk", "event", "state", "claim_id")
    tests: list[str] = []
    running: list[str] = []
    due: list[str] = []
    for pk, event, state, claim_id in rows:
        is_running = state == Delivery.State.WAITING and claim_id is not None
        (tests if event == TEST_EVENT else running if is_running else due).append(pk)
    _make_due(Delivery.objects.of_account(account_id).filter(pk__in=due))
    return Resent(due=len(due), running=len(running), tests=len(tests))


def resend_dead(*, account_id: str, since: datetime) -> int:
    """Resends every dead delivery created since a moment, except test events; returns how many."""
    dead = Delivery.objects.of_account(account_id).filter(state=Delivery.State.DEAD)
    return _make_due(dead.filter(created_at__gte=since).exclude(event=TEST_EVENT))


def pauses(account_id: str) -> dict[str, datetime]:
    """Returns the hosts with an open circuit, and when each pause ends."""
    open_now = Circuit.objects.filter(account_id=account_id, open_until__gt=Now())
    return {each.host: each.open_until for each in open_now if each.open_until}


def _make_due(deliveries: Any) -> int:
    changed: int = deliveries.update(
        state=Delivery.State.WAITING,
        next_attempt_at=Now(),
        failed_attempts=0,
        is_manual=True,
        delivered_at=None,
    )
    return changed


@transaction.atomic
def request_test(
    *, account_id: str, url: str, now: datetime, endpoint: WebhookEndpoint | None = None
) -> Delivery:
    """Inserts a test event for the worker, which attempts it once.

    The secret of the `endpoint` signs it, or else that of the account. Delivery and attempt are in
    the log like any other. Raises vault.Unreadable, TooManyTests.
    """
    if endpoint is None:
        secret_services.read_secrets(account_id)
    User.objects.select_for_update(no_key=True).get(pk=account_id)  # two at once count each other
    if _count_tests(account_id) >= MAX_TESTS:
        raise TooManyTests
    test_id = owned_id(account_id)
    payload = {"event": TEST_EVENT, "timestamp": iso(now), "data": {}}
    event = Event(account_id, url, TEST_EVENT, test_id, f"{test_id}:test", payload)
    enqueue([event], endpoint_id=endpoint.pk if endpoint else None)
    row: Delivery = Delivery.objects.of_account(account_id).get(pk=event.id)
    row.is_manual = True
    row.save(update_fields=["is_manual"])
    return row


def _count_tests(account_id: str) -> int:
    """How many test events of the account wait, or are under way."""
    mine = Delivery.objects.of_account(account_id).in_state("waiting")
    # no parameter, so that the index of waiting test events serves
    is_test = RawSQL(f"event = '{TEST_EVENT}'", [], output_field=BooleanField())  # noqa: S611
    return int(mine.filter(is_test).count())
