"""Who has answered a request of several people hears no more of it, and nobody learns who has."""

from typing import Any

import pytest
from django.core.mail import EmailMultiAlternatives
from django.db.models.functions import Now

from accounts.models import User
from loops.models import Loop
from outbox.dispatcher import Dispatcher
from reviews.models import Notification, Request
from reviews.notifications import services
from reviews.notifications.mail.channel import NotificationMail
from reviews.notifications.push.channel import DISPATCHER
from reviews.queries.reach import read_reach
from tests.reviews.conftest import Make
from tests.reviews.notifications.conftest import GivePhone
from tests.reviews.notifications.push_service import PushService
from tests.reviews.test_policies import answer, people, policy, read
from tests.reviews.test_policies import loop as loop

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def both(loop: Loop) -> list[User]:
    return people(loop, 2)


def send_mails() -> None:
    Dispatcher(NotificationMail()).run_due()


def send_again(request: Request) -> None:
    Notification.objects.filter(request=request, state="waiting").update(next_attempt_at=Now())
    DISPATCHER.run_due()
    DISPATCHER.settle()


def describe(request: Request) -> dict[str, tuple[Any, ...]]:
    """What the account sees of the notifications to each person, without the times."""
    return {
        each.name: (
            each.devices, each.pushes, bool(each.pushed_at), bool(each.mailed_at), each.is_waiting,
            each.error,
        )
        for each in read_reach(request).reviewers
    }  # fmt: skip


def list_states(request: Request, person: User) -> list[tuple[str, str]]:
    rows = Notification.objects.filter(request=request, recipient=person)
    return list(rows.order_by("-channel").values_list("channel", "state"))


def test_no_email_about_it(
    make: Make, both: list[User], mailoutbox: list[EmailMultiAlternatives]
) -> None:
    first, second = both
    request = make(policy=policy("unanimous", 2))
    answer(request, first, "yes")
    send_mails()
    assert [mail.to for mail in mailoutbox] == [[second.email]]
    assert list_states(request, first) == [("mail", "dropped")]
    shown = describe(request)
    assert shown[first.name] == shown[second.name] == (0, 0, False, True, False, "")


def test_no_push_about_it(
    make: Make, both: list[User], give_phone: GivePhone, service: PushService
) -> None:
    first, second = both
    phones = [give_phone(first), give_phone(second)]
    for phone in phones:
        service.answer(phone, 503)
    request = make(policy=policy("unanimous", 2))
    DISPATCHER.settle()
    answer(request, first, "yes")
    for phone in phones:
        service.answer(phone, 201)
    before = len(service.got)
    send_again(request)
    paths = [received.path for received in service.got[before:]]
    assert paths == ["/push/" + phones[1].endpoint.rpartition("/")[2]]
    assert list_states(request, first) == [("push", "dropped")]
    shown = describe(request)
    assert shown[first.name] == shown[second.name] == (1, 1, True, False, False, "")
    assert read(request).notifications_sent == 2


def test_no_email_in_place_of_a_push(
    make: Make,
    both: list[User],
    give_phone: GivePhone,
    service: PushService,
    mailoutbox: list[EmailMultiAlternatives],
) -> None:
    """The push was under way when the person answered, and fails for good."""
    first, second = both
    for person in both:
        service.answer(give_phone(person), 400)
    service.hold()
    request = make(policy=policy("unanimous", 2))
    answer(request, first, "yes")
    service.release()
    DISPATCHER.settle()
    assert describe(request)[first.name] == describe(request)[second.name]
    send_mails()
    assert [mail.to for mail in mailoutbox] == [[second.email]]
    shown = describe(request)
    assert shown[first.name] == shown[second.name] == (1, 0, False, True, False, "HTTP 400")


def test_the_account_learns_it_in_the_end(make: Make, both: list[User]) -> None:
    first, second = both
    request = make(policy=policy("unanimous", 2))
    answer(request, first, "yes")
    send_mails()
    answer(request, second, "yes")
    shown = describe(request)
    assert (shown[first.name][3], shown[second.name][3]) == (False, True)


def test_where_answers_are_open_it_is_no_secret(make: Make, both: list[User]) -> None:
    first, second = both
    request = make(policy=policy("unanimous", 2, blind=False))
    answer(request, first, "yes")
    send_mails()
    shown = describe(request)
    assert (shown[first.name][3], shown[second.name][3]) == (False, True)


def test_what_was_withdrawn_for_another_reason_is_not_sent(make: Make, both: list[User]) -> None:
    first, second = both
    request = make(policy=policy("unanimous", 2))
    services.choose_mails(user_id=second.pk, mails="none")
    send_mails()
    shown = describe(request)
    assert (shown[first.name][3], shown[second.name][3]) == (True, False)
