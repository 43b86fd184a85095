"""What the engine promises, for each of its channels."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from outbox import recording
from outbox.claiming import any_due
from outbox.dispatcher import Dispatcher
from outbox.items import Item, Outcome, Result
from reviews.notifications.push.channel import PushChannel, Verdict
from tests.outbox.conftest import CHANNELS, Case

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("case", CHANNELS, indirect=True),
]


def outcome(case: Case, result: Result) -> Outcome:
    is_push = isinstance(case.channel, PushChannel)
    return Outcome(result, "" if result == Result.SENT else "x",
                   details=Verdict("retry") if is_push else None)  # fmt: skip


def sending(
    case: Case, monkeypatch: pytest.MonkeyPatch, send: Callable[[Item[Any]], Outcome]
) -> Dispatcher[Any]:
    """A dispatcher whose messages go to `send`."""
    monkeypatch.setattr(case.channel, "send", lambda item, _: send(item))
    monkeypatch.setattr(case.channel, "note", lambda *_: None)
    return Dispatcher(case.channel)


def test_a_claim_holds_until_its_lease_runs_out(case: Case) -> None:
    case.make_messages(2)
    case.make_due()
    lost = case.claim()
    assert len(lost) == 2
    assert case.claim() == []
    case.make_due()
    held = case.claim()
    assert {item.ids for item in held} == {item.ids for item in lost}
    assert {item.claim_id for item in held} != {item.claim_id for item in lost}


@pytest.mark.parametrize("result", Result)
def test_who_has_lost_the_lease_writes_nothing(case: Case, result: Result) -> None:
    case.make_messages(1)
    case.make_due()
    (lost,) = case.claim()
    case.make_due()
    (held,) = case.claim()
    assert recording.record(case.channel, lost, outcome(case, result)) is None
    recording.give_back(case.channel, [lost])
    assert case.count(f"claim_id = '{held.claim_id}' AND failed_attempts = 0") == 1
    assert recording.record(case.channel, held, outcome(case, Result.SENT)) == Result.SENT
    assert recording.record(case.channel, held, outcome(case, result)) is None
    assert case.count() == 0


def test_what_is_given_back_is_due_at_once(case: Case) -> None:
    case.make_messages(1)
    case.make_due()
    (item,) = case.claim()
    recording.give_back(case.channel, [item])
    case.execute("UPDATE reviews_emailpreference SET mailed_at = NULL")
    (again,) = case.claim()
    assert (again.ids, again.failed_attempts) == (item.ids, 0)


def test_it_is_given_up_after_its_schedule(case: Case) -> None:
    case.make_messages(1)
    results = []
    for _ in range(len(case.channel.delays) + 1):
        case.execute("UPDATE reviews_request SET timeout_at = now() + interval '2 days'")
        case.make_due()
        (item,) = case.claim()
        results.append(recording.record(case.channel, item, outcome(case, Result.RETRY)))
    assert results == [Result.RETRY] * len(case.channel.delays) + [Result.FAILED]
    assert case.count() == 0


def test_claims_at_once_never_share_a_row(case: Case) -> None:
    count = 2 if case.channel.name == "notification mail" else 12
    case.make_messages(count)
    case.make_due()
    found: list[Item[Any]] = []
    together = threading.Barrier(6)

    def work() -> None:
        try:
            together.wait(20)
            found.extend(case.claim(3))
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert len(found) == count
    assert len({item.ids for item in found}) == count


def test_a_run_sends_each_once_and_leaves_nothing(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.make_messages(2)
    case.make_due()
    got: list[tuple[str, ...]] = []

    def send(item: Item[Any]) -> Outcome:
        got.append(item.ids)
        return outcome(case, Result.SENT)

    dispatcher = sending(case, monkeypatch, send)
    assert case.execute(f"SELECT {any_due(case.channel)}") == [(True,)]
    assert dispatcher.run_due() == 2
    assert case.execute(f"SELECT {any_due(case.channel)}") == [(False,)]
    dispatcher.close()
    assert len(set(got)) == len(got) == 2
    assert case.count() == 0


def test_after_an_unexpected_error_the_lease_runs_out(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.make_messages(1)
    case.make_due()

    def send(item: Item[Any]) -> Outcome:
        raise LookupError

    dispatcher = sending(case, monkeypatch, send)
    assert dispatcher.run_due() == 1
    dispatcher.close()
    assert case.count("claim_id IS NOT NULL AND next_attempt_at > now()") == 1


def test_a_restored_copy_is_quiet(
    case: Case, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    case.make_messages(1)
    case.make_due()
    settings.DELIVERIES_ARE_ON = False
    dispatcher = sending(case, monkeypatch, lambda _: outcome(case, Result.SENT))
    assert dispatcher.run_due() == 0
    assert case.count("failed_attempts = 0") == 1
    settings.DELIVERIES_ARE_ON = True
    assert dispatcher.run_due() == 1
    dispatcher.close()


def test_a_stop_gives_back_what_was_not_begun(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 2 if case.channel.name == "notification mail" else 20
    case.make_messages(count)
    case.make_due()

    def send(item: Item[Any]) -> Outcome:
        dispatcher.stop()
        return outcome(case, Result.SENT)

    dispatcher = sending(case, monkeypatch, send)
    dispatcher.run_due()
    dispatcher.close()
    assert case.count("claim_id IS NOT NULL") == 0
    assert count - case.channel.threads <= case.count() < count


def test_the_oldest_goes_first(case: Case) -> None:
    if case.channel.name == "notification mail":
        pytest.skip("one email for each person: there is no order")
    case.make_messages(3)
    case.make_due()
    ids = sorted(pk for item in case.claim() for pk in item.ids)
    for age, pk in enumerate(ids):
        case.execute(
            f"UPDATE {case.channel.table} SET claim_id = NULL,"
            f" next_attempt_at = now() - interval '{9 - age} hours' WHERE id = '{pk}'"
        )
    assert [item.ids for item in case.claim(2)] == [(pk,) for pk in ids[:2]]
