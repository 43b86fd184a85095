"""Whom a request reached, and in one sentence why nobody answered it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from loops.models import Loop, Membership
from loops.services import join_loop
from reviews import services, viewers
from reviews.models import Notification, Request, Viewer
from reviews.notifications.push.channel import DISPATCHER
from reviews.policy import Policy
from reviews.services import remove_member
from tests.conftest import account
from tests.portal import signed_in, words
from tests.reviews.conftest import Make, make_overdue
from tests.reviews.notifications.conftest import GivePhone
from tests.reviews.notifications.conftest import give_phone as give_phone
from tests.reviews.notifications.conftest import push_key as push_key
from tests.reviews.notifications.conftest import service as service

pytestmark = pytest.mark.django_db


def section(owner: User, request: Request) -> str:
    """What the section about the reviewers says."""
    response = signed_in(owner).get(f"/dashboard/requests/{request.pk}/")
    source = response.content.decode()
    (found,) = re.findall(
        r'<section class="card" aria-labelledby="reach">.*?</section>', source, re.S
    )
    response.content = found.encode()
    return words(response)


def mailed(request: Request, person: User) -> None:
    rows = Notification.objects.filter(request=request, recipient=person, channel="mail")
    assert rows.update(state="sent", done_at=Now()) == 1


def open_page(person: User, request: Request, query: str = "") -> Any:
    return signed_in(person).get(f"/inbox/{request.pk}/{query}")


def test_nobody_has_a_device(owner: User, member: User, make: Make) -> None:
    request = make()
    said = section(owner, request)
    assert said.startswith(
        "Reviewers Nobody has opened it yet: none of the 2 reviewers has a device for"
        " notifications."
    )
    mailed(request, member)
    make_overdue(request)
    said = section(owner, request)
    assert said.startswith(
        "Why it timed out Nobody opened it: none of the 2 reviewers has a device for notifications."
        " 1 got an email."
    )
    assert re.search(r"Member No device for notifications Email sent \d+ \w+ .*? Not opened", said)


def test_a_service_without_a_mail_server_has_sent_no_email(
    owner: User, member: User, make: Make, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    request = make()
    mailed(request, member)
    said = section(owner, request)
    assert "Email written to the log, not sent" in said
    assert "Email sent" not in said
    assert "got an email" not in said


def test_one_has_a_device(owner: User, member: User, give_phone: GivePhone, make: Make) -> None:
    give_phone(member)
    give_phone(member)
    request = make()
    DISPATCHER.settle()
    said = section(owner, request)
    assert "Nobody has opened it yet: 1 of 2 reviewers has no device for notifications" in said
    Notification.objects.filter(request=request, channel="push").update(state="sent", done_at=Now())
    assert "Member Notified on 2 devices" in section(owner, request)
    Notification.objects.filter(request=request, channel="push").update(
        state="dropped", error="410 <Gone>"
    )
    said = section(owner, request)
    assert "A notification failed: 410 <Gone>" in said
    assert "Notified on" not in said
    Notification.objects.filter(request=request, channel="push").update(error="No connection: x.")
    page = signed_in(owner, headers={"accept-language": "de"}).get(
        f"/dashboard/requests/{request.pk}/"
    )
    assert "fehlgeschlagen: Keine Verbindung: x." in words(page)


def test_all_were_told(owner: User, member: User, give_phone: GivePhone, make: Make) -> None:
    for person in (owner, member):
        give_phone(person)
    request = make()
    DISPATCHER.settle()
    Notification.objects.filter(request=request).update(state="sent", done_at=Now())
    make_overdue(request)
    assert "Nobody opened it: 2 of 2 reviewers got a notification." in section(owner, request)


def test_several_who_did_not_agree(owner: User, member: User, make: Make) -> None:
    request = make(policy=Policy("unanimous", 2).store())
    for person, answer in ((owner, "yes"), (member, "no")):
        open_page(person, request)
        services.answer_request(request=request, reviewer_id=person.pk, answer=answer)
    said = section(owner, request)
    assert said.startswith("Reviewers 2 of 2 reviewers opened it. ")
    assert "nobody answered" not in said


def test_who_is_not_asked_is_no_reviewer(owner: User, member: User, loop: Loop, make: Make) -> None:
    request = make(policy=Policy(exclude_creator=True).store())
    join_loop(user=account("late"), code=loop.invite_code)
    said = section(owner, request)
    assert "the only reviewer has no device for notifications" in said
    assert "Member" in said
    assert "Owner" not in said
    assert "Late" not in said


def test_opened_and_skipped(owner: User, member: User, make: Make) -> None:
    request, following = make(), make(priority="low")
    open_page(member, request)
    said = section(owner, request)
    assert said.startswith("Reviewers 1 of 2 reviewers opened it.")
    assert re.search(r"Member No device .*? Opened \d+ .*? Owner No device .*? Not opened", said)
    first = Viewer.objects.get().opened_at
    open_page(member, following, f"?skipped={request.pk}.{'0' * 24}")
    open_page(member, request)
    assert Viewer.objects.get(request=request).opened_at == first
    make_overdue(request)
    said = section(owner, request)
    assert "Why it timed out 1 of 2 reviewers opened it, 1 skipped it, nobody answered." in said
    assert re.search(r"Opened \d+ .*? Skipped \d+ ", said)


def test_nobody_skips_for_others(owner: User, member: User, make: Make) -> None:
    request, following = make(), make()
    open_page(member, request)
    open_page(owner, following, f"?skipped={request.pk}")
    assert not Viewer.objects.filter(skipped_at__isnull=False).exists()


def test_who_held_it(owner: User, member: User, make: Make) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=member.pk)
    assert section(owner, request).startswith("Reviewers Member is on it.")
    services.release_claim(request=request, reviewer_id=member.pk)
    assert "Member claimed it, but released it." in section(owner, request)
    services.claim_request(request=services.read_request(request.pk), reviewer_id=owner.pk)
    make_overdue(request)
    said = section(owner, request)
    assert "Why it timed out Owner and 1 more claimed it, but didn’t answer." in said
    assert said.count("Claimed ") == 2


def test_who_joined_later_and_who_left(
    owner: User, member: User, outsider: User, loop: Loop, make: Make
) -> None:
    request = make()
    Request.objects.filter(pk=request.pk).update(created_at=Now() - timedelta(minutes=5))
    Membership.objects.filter(loop=loop).update(joined_at=Now() - timedelta(minutes=9))
    open_page(member, request)
    remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    join_loop(user=outsider, code=loop.invite_code)
    said = section(owner, request)
    assert "1 of 3 reviewers opened it." in said
    assert re.search(r"Outsider Joined after it was sent \d+ .*? Not opened", said)
    assert "Outsider No device" not in said
    make_overdue(request)
    Request.objects.filter(pk=request.pk).update(timeout_at=Now() - timedelta(minutes=1))
    assert "Outsider" not in section(owner, request)


def test_after_its_records_are_deleted(owner: User, make: Make) -> None:
    request = make()
    Request.objects.filter(pk=request.pk).update(timeout_at=Now() - timedelta(days=8))
    Membership.objects.update(joined_at=Now() - timedelta(days=20))
    said = section(owner, request)
    assert said.startswith("Why it timed out Nobody opened it. ")
    assert "No device" not in said
    assert "Records of notifications are deleted 7 days after a request ends." in said


def test_an_ended_request_is_not_opened_any_more(member: User, make: Make) -> None:
    request = make()
    make_overdue(request)
    open_page(member, request)
    signed_in(member).head(f"/inbox/{make().pk}/")
    assert not Viewer.objects.exists()


def test_many_reviewers_are_counted_and_few_listed(
    owner: User, loop: Loop, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    people = [User(email=f"{number}@example.org", name=f"P{number}") for number in range(70)]
    User.objects.bulk_create(people)
    rows = [
        Membership(
            loop=loop, account_id=owner.pk, member_id=each.pk, user=each,
            status="active", joined_at=Now(),
        )
        for each in people
    ]  # fmt: skip
    Membership.objects.bulk_create(rows)
    request = make()
    assert "And 22 more reviewers." in section(owner, request)
    browser = signed_in(owner)
    with django_assert_num_queries(5):  # session, person, request, deliveries, reviewers
        assert browser.get(f"/dashboard/requests/{request.pk}/").status_code == 200


def test_a_database_that_cannot_write_still_shows_the_page(
    member: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = make()

    def refuse(*_: Any) -> None:
        raise OperationalError("no room")

    monkeypatch.setattr(viewers, "_execute", refuse)
    assert open_page(member, request).status_code == 200
