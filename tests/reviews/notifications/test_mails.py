"""E-mails for people without a device, as a mailbox gets them."""

import smtplib
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest
from allauth.account.models import EmailAddress
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.locmem import EmailBackend
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from outbox.claiming import claim
from outbox.dispatcher import Dispatcher
from outbox.items import Bounds, Item
from reviews import services as review_services
from reviews.models import EmailPreference, Notification, Request
from reviews.notifications import services
from reviews.notifications.mail import channel
from reviews.notifications.mail.channel import NotificationMail
from reviews.notifications.mail.message import Letter
from tests.outage import away_at_first
from tests.reviews.conftest import Make
from tests.reviews.notifications.conftest import GivePhone
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


@pytest.fixture
def quiet_owner(owner: User) -> None:
    """The creator wants no e-mails, so that those of the member stand alone."""
    services.choose_mails(user_id=owner.pk, mails="none")


def states() -> list[tuple[str, str]]:
    rows = Notification.objects.order_by("created_at", "-channel")
    return list(rows.values_list("channel", "state"))


def minute_later() -> None:
    EmailPreference.objects.update(mailed_at=Now() - timedelta(seconds=61))
    Notification.objects.filter(state="waiting").update(next_attempt_at=Now())


def parsed(mail: EmailMultiAlternatives) -> EmailMessage:
    read = message_from_bytes(mail.message().as_bytes(), policy=default)
    assert isinstance(read, EmailMessage)
    return read


def test_everybody_without_a_device_gets_one(
    make: Make, owner: User, member: User, mailoutbox: list[EmailMultiAlternatives]
) -> None:
    make()
    assert mailoutbox == []
    assert Dispatcher(NotificationMail()).run_due() == 2
    assert {mail.to[0] for mail in mailoutbox} == {owner.email, member.email}
    assert states() == [("mail", "sent")] * 2
    assert Request.objects.get().notifications_sent == 0  # pushes alone count


@pytest.mark.usefixtures("quiet_owner")
def test_what_it_says(make: Make, member: User, mailoutbox: list[EmailMultiAlternatives]) -> None:
    User.objects.filter(pk=member.pk).update(time_zone="Asia/Tokyo")
    request = make(priority="critical", request_text="Refund **order 4821** <b>" + "x " * 900)
    Request.objects.update(timeout_at=datetime(2027, 1, 31, 20, 30, tzinfo=UTC))
    Dispatcher(NotificationMail()).run_due()
    (mail,) = mailoutbox
    read = parsed(mail)
    url = f"http://testserver/inbox/{request.pk}/"
    assert str(read["Subject"]).strip().startswith("Critical: Refund order 4821 <b>x x")
    assert len(str(read["Subject"])) <= 90
    text, markup = (read.get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert markup is not None
    for shown in (text.get_content(), markup.get_content()):
        assert "1 February 2027, 05:30 JST" in shown
        assert url in shown
        assert "Refund desk" in shown
        assert "x " * 200 not in shown
    assert "<b>" not in markup.get_content()
    assert "&lt;b&gt;" in markup.get_content()
    assert read["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = str(read["List-Unsubscribe"]).strip(" <>")
    assert link.startswith("http://testserver/unsubscribe/")
    assert link in text.get_content()
    assert link in markup.get_content()


@pytest.mark.usefixtures("quiet_owner")
@pytest.mark.parametrize(
    ("choice", "priority", "count"),
    [
        (None, "low", 1),
        ("every", "low", 1),
        ("critical", "high", 0),
        ("critical", "critical", 1),
        ("none", "critical", 0),
    ],
)
def test_each_member_chooses(
    make: Make, member: User, choice: str | None, priority: str, count: int
) -> None:
    if choice:
        services.choose_mails(user_id=member.pk, mails=choice)
    make(priority=priority)
    assert Notification.objects.count() == count


@pytest.mark.usefixtures("quiet_owner")
def test_an_address_that_nobody_confirmed_gets_nothing(make: Make, member: User) -> None:
    EmailAddress.objects.filter(user=member).update(verified=False)
    make()
    assert not Notification.objects.exists()


@pytest.mark.usefixtures("quiet_owner")
@pytest.mark.django_db(transaction=True)
def test_a_device_takes_its_place_while_it_is_on(
    make: Make, member: User, give_phone: GivePhone
) -> None:
    give_phone(member)
    make()
    wait_until(lambda: states() == [("push", "sent")])
    member.push_subscriptions.update(is_on=False)
    make()
    assert states() == [("push", "sent"), ("mail", "waiting")]


def test_an_email_about_many_requests_is_put_together_once(
    make: Make, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each of 8,000 requests took 8 s, and the database ends idle claims after 5."""
    for _ in range(10):
        make()
    made, make_item = [], channel.make_item

    def count(letter: Letter, claim_id: str) -> Item[Letter]:
        made.append(letter)
        return make_item(letter, claim_id)

    monkeypatch.setattr(channel, "make_item", count)
    items = claim(channel.CHANNEL, Bounds(9, 9, 9, 9)).items
    assert sorted(len(item.ids) for item in items) == [10, 10]
    assert len(made) == 2


@pytest.mark.usefixtures("quiet_owner")
def test_one_mail_a_minute_bundles_what_came_meanwhile(
    make: Make, mailoutbox: list[EmailMultiAlternatives]
) -> None:
    make(request_text="First?")
    mailer = Dispatcher(NotificationMail())
    assert mailer.run_due() == 1
    for number in range(12):
        make(request_text=f"Later {number}?")
    make(request_text="Urgent?", priority="critical")
    assert mailer.run_due() == 0
    minute_later()
    assert mailer.run_due() == 1
    assert [mail.subject for mail in mailoutbox] == ["First?", "Critical: Urgent? (and 12 more)"]
    body = str(mailoutbox[1].body)
    assert body.count("Answer by") == 10
    assert "3 more in your inbox: http://testserver/inbox/" in body
    assert states() == [("mail", "sent")] * 14


@pytest.mark.usefixtures("quiet_owner")
@pytest.mark.parametrize(
    "why", ["answered", "unsubscribed", "critical only", "unconfirmed", "deactivated"]
)
def test_nobody_is_told_of_what_is_over(
    make: Make, owner: User, member: User, why: str, mailoutbox: list[EmailMultiAlternatives]
) -> None:
    request = make()
    if why == "answered":
        review_services.answer_request(request=request, reviewer_id=owner.pk, answer="yes")
    elif why == "unsubscribed":
        services.choose_mails(user_id=member.pk, mails="none")
    elif why == "critical only":
        services.choose_mails(user_id=member.pk, mails="critical")
    elif why == "unconfirmed":
        EmailAddress.objects.filter(user=member).update(verified=False)
    else:
        User.objects.filter(pk=member.pk).update(is_active=False)
    Dispatcher(NotificationMail()).run_due()
    assert mailoutbox == []
    assert states() == [("mail", "dropped")]


@pytest.mark.usefixtures("quiet_owner")
def test_who_got_no_email_waits_for_no_minute(
    make: Make, owner: User, mailoutbox: list[EmailMultiAlternatives]
) -> None:
    review_services.cancel_request(request_id=make().pk, account_id=owner.pk)
    Dispatcher(NotificationMail()).run_due()
    assert mailoutbox == []
    make()
    Dispatcher(NotificationMail()).run_due()
    assert len(mailoutbox) == 1


@pytest.mark.usefixtures("quiet_owner")
def test_a_time_zone_that_is_no_longer_known(
    make: Make, member: User, mailoutbox: list[EmailMultiAlternatives]
) -> None:
    User.objects.filter(pk=member.pk).update(time_zone="Europe/Atlantis")
    make()
    Dispatcher(NotificationMail()).run_due()
    assert len(mailoutbox) == 1


@pytest.mark.usefixtures("quiet_owner")
@pytest.mark.parametrize("text", ["\u200b\n", "\ufeff\u2028\n"])
def test_a_text_without_anything_visible(
    make: Make, mailoutbox: list[EmailMultiAlternatives], text: str
) -> None:
    make(priority="critical", request_text=text)
    make(request_text="Should we refund order 4821?")
    Dispatcher(NotificationMail()).run_due()
    (mail,) = mailoutbox
    assert "refund order 4821" in mail.body


@pytest.mark.usefixtures("quiet_owner")
def test_what_a_filter_refuses_takes_no_other_request_with_it(
    make: Make, mailoutbox: list[EmailMultiAlternatives], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mail server says 554 to the content."""
    for text in ("Approve A?", "Approve casino.example?", "Approve B?"):
        make(request_text=text)
    offered: list[str] = []

    def filter_content(server: EmailBackend, mails: list[EmailMultiAlternatives]) -> None:
        (mail,) = mails
        offered.append(str(mail.subject))
        if "casino" in str(mail.body):
            raise smtplib.SMTPDataError(554, b"5.7.1 Message rejected as spam")
        mailoutbox.append(mail)

    monkeypatch.setattr(EmailBackend, "send_messages", filter_content)
    Dispatcher(NotificationMail()).run_due()
    assert len(offered) == 4
    assert len(mailoutbox) == 2
    assert sorted(states()) == [("mail", "dropped"), ("mail", "sent"), ("mail", "sent")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("quiet_owner")
def test_what_was_sent_is_recorded_once_the_database_is_back(
    make: Make, mailoutbox: list[EmailMultiAlternatives], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be sent again when its lease runs out."""
    make()
    calls = away_at_first(monkeypatch, "outbox.recording.record", times=4)
    assert Dispatcher(NotificationMail()).run_due() == 1
    assert (len(calls), len(mailoutbox)) == (5, 1)
    assert states() == [("mail", "sent")]


class Failing:
    """A backend that fails as mail servers do."""

    error: Exception

    def __init__(self, **_: object) -> None: ...

    def open(self) -> None: ...

    def close(self) -> None: ...

    def send_messages(self, _: object) -> int:
        raise self.error


@pytest.mark.usefixtures("quiet_owner")
@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ConnectionRefusedError("refused"), "waiting"),
        (smtplib.SMTPServerDisconnected("gone"), "waiting"),
        (smtplib.SMTPRecipientsRefused({"m": (450, b"greylisted")}), "waiting"),
        (smtplib.SMTPRecipientsRefused({"m": (550, b"unknown")}), "dropped"),
        (LookupError("no such thing"), "dropped"),
    ],
)
def test_a_mail_server_that_fails(
    make: Make, settings: Settings, error: Exception, state: str
) -> None:
    settings.EMAIL_BACKEND = "tests.reviews.notifications.test_mails.Failing"
    Failing.error = error
    make()
    assert Dispatcher(NotificationMail()).run_due() == 1
    row = Notification.objects.get()
    assert row.state == state
    assert row.error
    if state == "waiting":
        assert row.failed_attempts == 1
        now = Notification.objects.values_list(Now(), flat=True)[0]
        assert 45 < (row.next_attempt_at - now).total_seconds() < 75


@pytest.mark.usefixtures("quiet_owner")
def test_it_is_given_up_in_the_end(make: Make, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "tests.reviews.notifications.test_mails.Failing"
    Failing.error = TimeoutError()
    make(timeout_seconds=86_400)
    mailer, runs = Dispatcher(NotificationMail()), 0
    while mailer.run_due():
        runs += 1
        minute_later()
    assert runs == len(NotificationMail.delays) + 1
    assert states() == [("mail", "dropped")]


def test_a_run_with_nothing_to_do_is_one_claim(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4):  # savepoint, lock, claim, release
        assert Dispatcher(NotificationMail()).run_due() == 0
