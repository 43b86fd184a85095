"""Confirming, inviting and joining at once: nothing deadlocks, and nothing is left behind."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from accounts.models import ReservedId, User
from accounts.proofs import confirm_address
from accounts.services import create_account
from loops.models import Loop, Membership
from loops.services import AlreadyMember, invite_member, join_loop

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 25


def at_once(*moves: Callable[[], object]) -> None:
    """Each move in a thread of its own, all starting together."""
    start = threading.Barrier(len(moves), timeout=60)
    broken: list[BaseException] = []

    def run(move: Callable[[], object]) -> None:
        try:
            start.wait()
            move()
        except AlreadyMember:
            pass
        except BaseException as error:
            broken.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[move]) for move in moves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert broken == []


def test_confirming_inviting_and_joining(loop: Loop) -> None:
    for number in range(ROUNDS):
        email = f"nora{number}@example.org"
        user = create_account(email=email)
        if number % 2:
            invite_member(loop=loop, email=email)

        def confirm(user: User = user, email: str = email) -> None:
            confirm_address(user=User.objects.get(pk=user.pk), address=email)

        def invite(email: str = email) -> None:
            invite_member(loop=loop, email=email)

        def join(user: User = user) -> None:
            join_loop(user=user, code=loop.invite_code)

        at_once(confirm, invite, join)
        rows = Membership.objects.filter(loop=loop)
        assert not rows.filter(status="pending", email=email).exists()
        assert rows.filter(user=user, status="active").count() == 1


def test_confirming_and_inviting_show_no_account(loop: Loop) -> None:
    for number in range(ROUNDS):
        email = f"nora{number}@example.org"
        user = create_account(email=email)

        def confirm(user: User = user, email: str = email) -> None:
            confirm_address(user=user, address=email)

        def invite(email: str = email) -> None:
            invite_member(loop=loop, email=email)

        at_once(confirm, invite)
        (row,) = Membership.objects.filter(loop=loop, email=email)
        assert row.status == "pending"
        assert row.member_id == ReservedId.objects.get(email=email).user_id != user.pk


def test_two_accounts_confirm_one_address() -> None:
    """One gets it; the other loses it, and neither deadlocks with the other way round."""
    for number in range(ROUNDS):
        emails = [f"a{number}@example.org", f"b{number}@example.org"]
        first, second = (create_account(email=email) for email in emails)

        def swap(user: User, email: str) -> Callable[[], object]:
            return lambda: confirm_address(user=User.objects.get(pk=user.pk), address=email)

        at_once(swap(first, emails[1]), swap(second, emails[0]))
        assert User.objects.get(pk=first.pk).email == emails[1]
        assert User.objects.get(pk=second.pk).email == emails[0]
    assert not ReservedId.objects.exists()
