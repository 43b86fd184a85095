"""Loops that are deleted and members who are removed while others are at work."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, connections, transaction

from accounts.models import User
from accounts.quota import Account
from loops.models import Loop, Membership
from loops.services import AlreadyMember, InviteNotFound, create_loop, invite_member, join_loop
from reviews.models import Request
from reviews.services import (
    LoopGone,
    NotAReviewer,
    TransitionLost,
    answer_request,
    claim_request,
    create_request,
    delete_loop,
    remove_member,
)
from tests.api.bodies import QUESTION
from tests.backends import waiting_for_locks
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 60
EXPECTED = (
    AlreadyMember,
    InviteNotFound,
    Loop.DoesNotExist,
    LoopGone,
    Membership.DoesNotExist,
    NotAReviewer,
    TransitionLost,
)


def ask(owner: User, loop: Loop) -> Request:
    """A new request in the loop."""
    account = Account(id=owner.pk, email=owner.email, name=owner.name, is_active=True)
    return create_request(loop_id=loop.pk, account=account, fields=dict(QUESTION))


def side_by_side(*moves: Callable[[int], object]) -> None:
    """Every move in a thread of its own, round by round, all starting each round together."""
    start = threading.Barrier(len(moves), timeout=60)
    broken: list[BaseException] = []

    def run(move: Callable[[int], object]) -> None:
        try:
            for place in range(ROUNDS):
                start.wait()
                try:
                    move(place)
                except EXPECTED:
                    continue
        except BaseException as error:
            broken.append(error)
            start.abort()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(move,)) for move in moves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not broken, broken


def in_background(move: Callable[[], object], told: list[type[BaseException]]) -> threading.Thread:
    """A thread for the move, which leaves in `told` what it failed with."""

    def run() -> None:
        try:
            move()
        except EXPECTED as error:
            told.append(type(error))
        finally:
            connections.close_all()

    return threading.Thread(target=run)


@pytest.fixture
def loops(owner: User, member: User) -> list[Loop]:
    """As many loops as rounds, the member in each of them."""
    made = [create_loop(owner_id=owner.pk, name="Round", icon="bell") for _ in range(ROUNDS)]
    for loop in made:
        join_loop(user=member, code=loop.invite_code)
    return made


@pytest.mark.contract("delete_loop.open_requests", "claim.deleted")
def test_a_deleted_loop_leaves_nothing_open(owner: User, member: User, loops: list[Loop]) -> None:
    waiting = [ask(owner, loop) for loop in loops]
    side_by_side(
        lambda place: delete_loop(loop_id=loops[place].pk, account_id=loops[place].creator_id),
        lambda place: ask(owner, loops[place]),
        lambda place: claim_request(request=waiting[place], reviewer_id=member.pk),
    )
    assert not Request.objects.filter(status__in=["pending", "claimed"]).exists()
    assert not Loop.objects.alive().exists()


@pytest.mark.contract("delete_loop.open_requests")
def test_a_request_waits_for_the_loop_to_be_deleted(owner: User, loops: list[Loop]) -> None:
    told: list[type[BaseException]] = []
    asking = in_background(lambda: ask(owner, loops[0]), told)
    with transaction.atomic():
        delete_loop(loop_id=loops[0].pk, account_id=loops[0].creator_id)
        asking.start()
        wait_until(waiting_for_locks)
    asking.join()
    assert told == [LoopGone]
    assert not Request.objects.exists()


@pytest.mark.contract("delete_loop.open_requests")
def test_the_deletion_waits_for_a_request(owner: User, loops: list[Loop]) -> None:
    told: list[type[BaseException]] = []
    deleting = in_background(
        lambda: delete_loop(loop_id=loops[0].pk, account_id=loops[0].creator_id), told
    )
    with transaction.atomic():
        made = ask(owner, loops[0])
        deleting.start()
        wait_until(waiting_for_locks)
    deleting.join()
    assert not told
    made.refresh_from_db()
    assert made.status == "cancelled"


@pytest.mark.contract("remove_member.claims", "remove_member.access")
def test_a_removed_member_holds_nothing(owner: User, member: User, loops: list[Loop]) -> None:
    waiting = [ask(owner, loop) for loop in loops]
    answered = [ask(owner, loop) for loop in loops]
    side_by_side(
        lambda place: remove_member(
            loop_id=loops[place].pk, account_id=loops[place].creator_id, member_id=member.pk
        ),
        lambda place: claim_request(request=waiting[place], reviewer_id=member.pk),
        lambda place: answer_request(request=answered[place], reviewer_id=member.pk, answer="yes"),
    )
    assert not Request.objects.filter(claimed_by=member, status="claimed").exists()
    assert not Membership.objects.filter(user=member).exists()
    assert set(Request.objects.values_list("status", flat=True)) <= {"pending", "completed"}


@pytest.mark.contract("remove_member.access", "pending.listed")
def test_coming_and_going_at_once(outsider: User, member: User, loops: list[Loop]) -> None:
    side_by_side(
        lambda place: remove_member(
            loop_id=loops[place].pk, account_id=loops[place].creator_id, member_id=member.pk
        ),
        lambda place: join_loop(user=member, code=loops[place].invite_code),
        lambda place: invite_member(loop=loops[place], email=outsider.email),
        lambda place: join_loop(user=outsider, code=loops[place].invite_code),
    )
    outsiders = Membership.objects.filter(member_id=outsider.pk)
    assert set(outsiders.values_list("status", flat=True)) == {"active"}
    assert outsiders.count() == ROUNDS


@pytest.mark.contract("delete_loop.data", "remove_member.missing")
def test_two_deletions_a_removal_and_a_newcomer(member: User, loops: list[Loop]) -> None:
    side_by_side(
        lambda place: delete_loop(loop_id=loops[place].pk, account_id=loops[place].creator_id),
        lambda place: delete_loop(loop_id=loops[place].pk, account_id=loops[place].creator_id),
        lambda place: remove_member(
            loop_id=loops[place].pk, account_id=loops[place].creator_id, member_id=member.pk
        ),
        lambda place: join_loop(user=member, code=loops[place].invite_code),
    )
    assert not Loop.objects.alive().exists()


def test_deleting_a_loop_may_take_longer_than_other_calls(owner: User, loops: list[Loop]) -> None:
    """It cancels every open request: here one whose row is locked for a while."""
    ask(owner, loops[0])
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT FROM reviews_request FOR UPDATE")
    release = threading.Timer(1, other.connection.rollback)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '300ms'")
    release.start()
    try:
        delete_loop(loop_id=loops[0].pk, account_id=owner.pk)
    finally:
        release.join()
        other.close()
        connection.close()
    assert Request.objects.get().status == "cancelled"
