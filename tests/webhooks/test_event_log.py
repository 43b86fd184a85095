"""The log of events that streams read: nothing is skipped, whenever a transaction ends."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from db.ids import owned_id
from reviews import services, tasks
from tests.reviews.conftest import Make, make, make_overdue
from tests.serving import database_url
from webhooks import event_ids, event_log
from webhooks.event_log import Position
from webhooks.models import Delivery, LoggedEvent
from webhooks.tasks import forget_events

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["make"]  # a fixture
HOOK = "https://receiver.example/hook"


class Writer:
    """Writes events on a connection of its own, whose transaction the test ends."""

    def __init__(self, account: User) -> None:
        self.account_id = account.pk
        self.connection = psycopg.connect(database_url())
        self.count = 0

    def write(self, count: int = 1, size: int = 10) -> list[str]:
        """The names of the events."""
        names = []
        for _ in range(count):
            self.count += 1  # events of one transaction are in the order of their subjects
            subject = f"{self.count:012x}{owned_id(self.account_id)[12:]}"
            names.append(subject)
            pk = event_ids.event_id(
                subject_id=subject, occurrence=f"{subject}:end", account_id=self.account_id
            )
            event = [[pk], [self.account_id], [subject], [b"x" * size]]
            self.connection.execute(event_log.APPEND, event)
        return names

    def commit(self) -> None:
        self.connection.commit()


@pytest.fixture
def writers(owner: User) -> Iterator[list[Writer]]:
    made = [Writer(owner) for _ in range(3)]
    yield made
    for writer in made:
        writer.connection.close()


class Reader:
    """Reads the log as a stream does, and knows what it got."""

    def __init__(self, account: User, position: Position | None = None) -> None:
        self.account_id = account.pk
        self.position = position or event_log.begin()
        self.ids: list[str] = []

    def read(self) -> list[str]:
        """The names of what is new."""
        names = []
        while True:
            page = event_log.read(self.account_id, self.position)
            self.position = page.position
            names += [entry.name for entry in page.entries]
            self.ids += [entry.id for entry in page.entries]
            if page.is_last:
                return names


def resumed(account: User, event_id: str) -> Reader:
    position = event_log.resume(account.pk, event_id)
    assert position is not None
    return Reader(account, position)


def marked(account: User, marker: str) -> Reader:
    at, _, oldest = marker.partition(".")
    position = event_log.resume_at(int(at), int(oldest))
    assert position is not None
    return Reader(account, position)


def test_every_event_is_logged_once_with_or_without_a_callback(
    make: Make, owner: User, member: User
) -> None:
    reader = Reader(owner)
    hooked, plain, cancelled, late = make(callback_url=HOOK), make(), make(), make()
    for request in (hooked, plain):
        services.claim_request(request=request, reviewer_id=member.pk)
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    services.cancel_request(request_id=cancelled.pk, account_id=owner.pk)
    make_overdue(late)
    tasks.settle_overdue()

    page = event_log.read(owner.pk, reader.position)
    assert [entry.name for entry in page.entries] == [
        *("request.claimed", "request.completed") * 2,
        *("request.cancelled", "request.timeout"),
    ]
    sent = {row.pk: bytes(row.body) for row in Delivery.objects.all()}
    assert len(sent) == 2
    assert sent == {entry.id: entry.body for entry in page.entries if entry.id in sent}
    assert all(plain.pk.encode() in entry.body for entry in page.entries[2:4])
    assert event_log.read(owner.pk, page.position).entries == []
    assert event_log.read(member.pk, reader.position).entries == []


def test_a_body_is_stored_once(make: Make, owner: User) -> None:
    requests = [make(callback_url=HOOK), make()]
    for request in requests:
        services.cancel_request(request_id=request.pk, account_id=owner.pk)
    logged = LoggedEvent.objects.order_by("created_at")
    assert [row.body is None for row in logged] == [True, False]


def test_what_is_rolled_back_has_not_happened(make: Make, owner: User) -> None:
    reader = Reader(owner)
    request = make()
    with transaction.atomic():
        services.cancel_request(request_id=request.pk, account_id=owner.pk)
        transaction.set_rollback(True)
    assert reader.read() == []


def test_a_transaction_that_ends_late_is_not_skipped(owner: User, writers: list[Writer]) -> None:
    """Nor does it hold up the others."""
    late, early, last = writers
    reader = Reader(owner)
    (slow,) = late.write()
    (fast,) = early.write()
    early.commit()
    assert reader.read() == [fast]
    begun_meanwhile = Reader(owner)
    (third,) = last.write()
    last.commit()
    assert reader.read() == [third]
    late.commit()
    assert reader.read() == [slow]
    assert begun_meanwhile.read() == [slow, third]
    assert reader.read() == []


def test_who_comes_back_misses_nothing(owner: User, writers: list[Writer]) -> None:
    late, early, _ = writers
    reader = Reader(owner)
    (before,) = early.write()
    early.commit()
    (slow,) = late.write()
    (fast,) = early.write()
    early.commit()
    assert reader.read() == [before, fast]
    marker = reader.position.marker
    late.commit()
    after_before, after_fast = (resumed(owner, each) for each in reader.ids)
    # At least once: earlier ones may come again, because of the transactions of other tests, too.
    assert after_before.read()[-2:] == [slow, fast]
    assert after_fast.read()[-1:] == [slow]
    assert reader.read() == [slow]
    assert {*resumed(owner, reader.ids[-1]).read()} <= {before, fast}
    assert slow in marked(owner, marker).read()


def test_one_transaction_with_many_events_goes_on_behind_each(
    owner: User, writers: list[Writer]
) -> None:
    reader = Reader(owner)
    names = writers[0].write(5)
    writers[0].commit()
    assert reader.read() == names
    for number, event_id in enumerate(reader.ids):
        found = resumed(owner, event_id).read()
        assert [name for name in found if name not in names[:number]] == names[number + 1 :]


def test_pages_are_bounded_and_lose_nothing_that_comes_between_them(
    owner: User, writers: list[Writer]
) -> None:
    late, many, between = writers
    reader = Reader(owner)
    late_names = late.write()
    names = many.write(120)
    many.commit()
    first = event_log.read(owner.pk, reader.position)
    assert (len(first.entries), first.is_last) == (event_log.PAGE, False)
    late.commit()
    more = between.write()
    between.commit()
    second = event_log.read(owner.pk, first.position)
    assert (len(second.entries), second.is_last) == (20, True)
    assert [each.name for each in [*first.entries, *second.entries]] == names
    third = event_log.read(owner.pk, second.position)
    assert [each.name for each in third.entries] == [*late_names, *more]


def test_a_page_has_so_many_bytes(owner: User, writers: list[Writer]) -> None:
    reader = Reader(owner)
    names = writers[0].write(4, size=event_log.PAGE_BYTES // 2 + 1)
    writers[0].commit()
    page = event_log.read(owner.pk, reader.position)
    assert [entry.name for entry in page.entries] == names[:1]
    assert not page.is_last
    assert reader.read() == names


def test_numbers_of_transactions_that_a_crash_took_back(owner: User, writers: list[Writer]) -> None:
    """PostgreSQL uses them again: to those who have read on they seem to be seen."""
    reader = Reader(owner)
    marker = reader.position.marker
    (name,) = writers[0].write()
    writers[0].connection.execute(
        "UPDATE webhooks_loggedevent SET transaction_id ="
        " (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 20)::text::xid8"
    )
    writers[0].commit()
    assert reader.read() == [name]
    assert reader.read() == []
    assert marked(owner, marker).read() == [name]


def test_the_beginning_of_a_reader_moves_on(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "SETTLED", timedelta(0))
    monkeypatch.setattr(event_log, "MAX_LOST", 1)
    reader = Reader(owner)
    lows = []
    for _ in range(4):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()")
        reader.read()
        lows.append(reader.position.low)
    assert lows == sorted(lows)
    assert lows[-1] > lows[0]


@pytest.mark.parametrize("age", [71, 73])
def test_old_events_are_forgotten(owner: User, writers: list[Writer], age: int) -> None:
    reader = Reader(owner)
    writers[0].write(3)
    writers[0].commit()
    LoggedEvent.objects.update(created_at=Now() - timedelta(hours=age))
    reader.read()
    assert forget_events() == (3 if age > 72 else 0)
    assert (event_log.resume(owner.pk, reader.ids[0]) is None) == (age > 72)


def test_unknown_places(owner: User, outsider: User, writers: list[Writer]) -> None:
    reader = Reader(owner)
    writers[0].write()
    writers[0].commit()
    reader.read()
    (event_id,) = reader.ids
    assert event_log.resume(outsider.pk, event_id) is None
    assert event_log.resume(owner.pk, owned_id(owner.pk)) is None
    with connection.cursor() as cursor:
        cursor.execute("UPDATE webhooks_loggedevent SET transaction_id = '9000000000'")
    assert event_log.resume(owner.pk, event_id) is None  # of another server
    now = int(reader.position.marker.partition(".")[0])
    hour = 3_600_000_000
    assert event_log.resume_at(now, 3) is not None
    assert event_log.resume_at(now - 73 * hour, 3) is None
    assert event_log.resume_at(now, 9_000_000_000) is None
    assert event_log.resume_at(10**30, 3) is None


def statements(position: Position, account: User) -> int:
    with CaptureQueriesContext(connection) as queries:
        event_log.read(account.pk, position)
    return len(queries)


def test_a_page_is_one_statement(owner: User, writers: list[Writer]) -> None:
    position = event_log.begin()
    assert statements(position, owner) == 1
    writers[0].write(50)
    writers[0].commit()
    assert statements(position, owner) == 1
