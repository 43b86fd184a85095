"""What happens to a request wakes who waits for it, and the streams of its account."""

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from accounts.models import User
from api.wake_ups import WaitingLists, topic_of_account
from reviews import services, tasks
from reviews.lifecycle.transitions import CHANGED_CHANNEL
from tests.reviews.conftest import Make, make, make_overdue
from tests.serving import database_url
from web.waiting import WaitingList

__all__ = ["make"]  # a fixture
OWNER, OTHER = "0" * 21 + "abc", "0" * 21 + "abd"
REQUEST = "1" * 21 + "abc"


@pytest.mark.parametrize("changed", [REQUEST, OWNER])
def test_who_is_woken(changed: str) -> None:
    lists = WaitingLists(WaitingList(9, 9), WaitingList(9, 9))
    waiting = [lists.waiting.take(each, "", 9) for each in (REQUEST, "2" * 24)]
    streams = [lists.streams.take(topic_of_account(each), "", 9) for each in (OWNER, OTHER)]
    lists.wake(changed)
    assert [each.is_woken for each in waiting if each] == [changed == REQUEST, False]
    assert [each.is_woken for each in streams if each] == [True, False]
    lists.wake_all()
    assert all(each.is_woken for each in [*waiting, *streams] if each)


@pytest.mark.django_db(transaction=True)
def test_every_event_is_hinted_at(make: Make, owner: User, member: User) -> None:
    claimed, cancelled, late = make(), make(), make()
    make_overdue(late)
    steps: dict[str, Callable[[], object]] = {
        owner.pk: lambda: services.claim_request(request=claimed, reviewer_id=member.pk),
        claimed.pk: lambda: services.answer_request(
            request=claimed, reviewer_id=member.pk, answer="yes"
        ),
        cancelled.pk: lambda: services.cancel_request(request_id=cancelled.pk, account_id=owner.pk),
        late.pk: tasks.settle_overdue,
    }
    with closing(psycopg.connect(database_url(), autocommit=True)) as listening:
        listening.execute(f"LISTEN {CHANGED_CHANNEL}")
        for payload, step in steps.items():
            step()
            (heard,) = listening.notifies(timeout=20, stop_after=1)
            assert heard.payload == payload
