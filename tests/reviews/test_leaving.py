"""Members who leave a loop with open requests of several answers, or while one is created."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from loops.models import Loop
from loops.services import lock_loop
from reviews import services
from reviews.models import Request
from tests.backends import waiting_for_locks
from tests.reviews.conftest import FIELDS, Make, acting
from tests.reviews.test_policies import answer, people, policy, read
from tests.reviews.test_policies import loop as loop
from tests.waiting import wait_until
from webhooks.models import LoggedEvent


def leave(loop: Loop, person: User) -> None:
    services.remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=person.pk)


@pytest.mark.django_db
class TestManyRequests:
    @pytest.mark.parametrize("outcome", [None, "unreachable"])
    def test_more_of_them_take_no_more_statements(
        self, loop: Loop, make: Make, outcome: str | None
    ) -> None:
        first, second, *others = people(loop, 6)
        counted = []
        for leaver, members, count in ((first, 6, 2), (second, 5, 20)):
            rule = policy("unanimous", members) if outcome else policy("majority", 2)
            requests = [make(policy=rule) for _ in range(count)]
            for request in requests:
                answer(request, others[0], "yes")
            with CaptureQueriesContext(connection) as statements:
                leave(loop, leaver)
            assert {read(each).outcome for each in requests} == {outcome}
            counted.append(len(statements))
            Request.objects.filter(status="pending").update(status="cancelled")
        assert counted[0] == counted[1]

    def test_what_stays_open_is_not_written(self, loop: Loop, make: Make) -> None:
        first, second, *_ = people(loop, 4)
        request = make(policy=policy("majority", 3))
        answer(request, second, "yes")
        before = read(request)
        leave(loop, first)
        after = read(request)
        assert (after.status, after.answers_received) == ("pending", 1)
        assert after.updated_at == before.updated_at
        assert not LoggedEvent.objects.exists()

    def test_each_is_decided_by_its_own_answers(self, loop: Loop, make: Make) -> None:
        first, second, third = people(loop, 3)
        requests = [make(policy=policy("majority", 3)) for _ in range(3)]
        for request, given in zip(requests, ([], ["yes", "no"], ["yes"]), strict=True):
            for person, value in zip((second, third), given, strict=False):
                answer(request, person, value)
        leave(loop, first)
        stored = [read(each) for each in requests]
        assert [each.outcome for each in stored] == [None, "unreachable", None]
        assert [each.answers_received for each in stored] == [0, 2, 1]
        assert [each.status for each in stored] == ["pending", "timeout", "pending"]

    def test_there_is_time_for_thousands(self, loop: Loop) -> None:
        first, _ = people(loop, 2)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '5s'")
            leave(loop, first)
            cursor.execute("SHOW statement_timeout")
            assert cursor.fetchone() == ("1min",)


class Told:
    """What a thread has returned or raised."""

    result: Any = None
    error: BaseException | None = None


@contextmanager
def beside(move: Callable[[], Any]) -> Iterator[Told]:
    """Runs `move` on a connection of its own; it waits for a lock when the block begins."""
    told = Told()

    def run() -> None:
        try:
            told.result = move()
        except Exception as error:
            told.error = error
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        wait_until(lambda: waiting_for_locks() or not thread.is_alive())
        yield told
    finally:
        thread.join()


@pytest.mark.django_db(transaction=True)
class TestMeanwhile:
    def ask(self, owner: User, loop: Loop, **changes: Any) -> Request:
        fields = {**FIELDS, **changes}
        return services.create_request(loop_id=loop.pk, account=acting(owner), fields=fields)

    @pytest.mark.parametrize("is_loops", [True, False])
    @pytest.mark.parametrize("replaces", [True, False])
    def test_who_leaves_while_it_is_created(
        self, owner: User, loop: Loop, make: Make, is_loops: bool, replaces: bool
    ) -> None:
        """Whoever leaves waits, and then ends the request that nobody can decide any more."""
        first, _ = people(loop, 2)
        changes: dict[str, Any] = {"replaces": make().pk} if replaces else {}
        if is_loops:
            Loop.objects.filter(pk=loop.pk).update(policy=policy("unanimous", 2))
        else:
            changes["policy"] = policy("unanimous", 2)
        with ExitStack() as after, transaction.atomic():
            made = self.ask(owner, loop, **changes)
            told = after.enter_context(beside(lambda: leave(loop, first)))
        assert told.error is None
        assert read(made).outcome == "unreachable"

    @pytest.mark.parametrize("replaces", [True, False])
    def test_it_is_created_while_somebody_leaves(
        self, owner: User, loop: Loop, make: Make, replaces: bool
    ) -> None:
        """It asks those who remain."""
        first, second, third = people(loop, 3)
        changes: dict[str, Any] = {"replaces": make().pk} if replaces else {}
        changes["policy"] = policy("unanimous", 2)
        with ExitStack() as after, transaction.atomic():
            leave(loop, first)
            told = after.enter_context(beside(lambda: self.ask(owner, loop, **changes)))
        assert told.error is None
        assert set(read(told.result).eligible or ()) == {second.pk, third.pk}

    def test_a_next_version_and_whoever_leaves_do_not_wait_for_each_other(
        self, owner: User, loop: Loop, make: Make
    ) -> None:
        """Both lock the loop before the older version."""
        first, second, third = people(loop, 3)
        older = make(policy=policy("unanimous", 2))
        changes: dict[str, Any] = {"policy": policy("unanimous", 2), "replaces": older.pk}
        with ExitStack() as after, transaction.atomic():
            lock_loop(loop.pk, account_id=owner.pk)  # how leaving begins
            told = after.enter_context(beside(lambda: self.ask(owner, loop, **changes)))
            leave(loop, first)
        assert told.error is None
        assert read(older).status == "cancelled"
        assert set(read(told.result).eligible or ()) == {second.pk, third.pk}

    @pytest.mark.parametrize("replaces", [True, False])
    def test_one_without_a_policy_waits_for_nobody(
        self, owner: User, loop: Loop, make: Make, replaces: bool
    ) -> None:
        first, _ = people(loop, 2)
        changes: dict[str, Any] = {"replaces": make().pk} if replaces else {}
        with transaction.atomic():
            leave(loop, first)
            with beside(lambda: self.ask(owner, loop, **changes)) as told:
                pass
        assert (told.error, told.result.broadcasted_to) == (None, 3)
