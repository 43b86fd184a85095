"""The members of a loop in the dashboard: figures, inviting by mail, removing, sharing."""

import re
import smtplib
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.cache.backends.redis import RedisCache
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from accounts.services import create_account
from dashboard import loop_stats, members
from loops.invitations import InviterUnconfirmed, send_invitation
from loops.models import Loop, Membership
from loops.services import create_loop, invite_member
from reviews import services
from reviews.models import Request
from tests.answering import repeat_answers
from tests.dashboard.many import copies, older
from tests.portal import signed_in, words
from tests.reviews.conftest import Make
from web.bidi import isolate

pytestmark = pytest.mark.django_db


class BrokenBackend(EmailBackend):
    """A mail server that is away."""

    def send_messages(self, messages: Any) -> int:
        raise smtplib.SMTPServerDisconnected("gone")


def away(*_: Any, **__: Any) -> None:
    raise ConnectionError


def path(loop: Loop, rest: str = "") -> str:
    return f"/dashboard/loops/{loop.pk}/{rest}"


def invite(browser: Client, loop: Loop, email: str) -> Any:
    return browser.post(path(loop, "invite/"), {"email": email}, follow=True)


class TestFigures:
    def test_answers_median_and_rating(
        self, owner: User, member: User, loop: Loop, make: Make
    ) -> None:
        for minutes, rating in ((1, 5), (3, 4), (90, None)):
            request = make()
            services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
            if rating:
                services.add_feedback(request=request, feedback={"rating": rating})
            now = timezone.now()
            Request.objects.filter(pk=request.pk).update(
                created_at=now - timedelta(minutes=minutes), response_at=now
            )
        repeat_answers()
        page = words(signed_in(owner).get(path(loop)))
        assert "Owner owner@example.com You just now 0 – – " in page
        assert "Member member@example.com Active just now 3 3 min 4.5 Remove" in page

    def test_what_is_long_ago_does_not_count(
        self, owner: User, member: User, loop: Loop, make: Make
    ) -> None:
        request = make()
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
        long_ago = timezone.now() - timedelta(days=91)
        Request.objects.filter(pk=request.pk).update(created_at=long_ago)
        copies(services.read_request(make().pk), 1)
        assert "Active just now 0 – –" in words(signed_in(owner).get(path(loop)))

    def test_the_newest_answers_alone(
        self, owner: User, member: User, loop: Loop, make: Make
    ) -> None:
        requests = []
        for person, minutes in ((owner, 30), (member, 3)):
            request = make()
            services.answer_request(request=request, reviewer_id=person.pk, answer="yes")
            asked_at = timezone.now() - timedelta(minutes=minutes, seconds=5)
            Request.objects.filter(pk=request.pk).update(created_at=asked_at)
            requests.append(services.read_request(request.pk))
        older(requests[0], 5)
        page = words(signed_in(owner).get(path(loop)))
        assert "Based on the last 90 days. " in page
        assert "owner@example.com You just now 6 30 min" in page
        older(requests[1], loop_stats.MAX_ANSWERS - 2)
        page = words(signed_in(owner).get(path(loop)))
        assert "Based on the newest 2,000 answers of the last 90 days. " in page
        assert "owner@example.com You just now 1 30 min" in page
        assert "member@example.com Active just now 1,999 3 min" in page

    def test_page_by_page(self, owner: User, loop: Loop) -> None:
        for number in range(45):
            invite_member(loop=loop, email=f"p{number:02}@example.org")
        browser = signed_in(owner)
        pages = [words(browser.get(path(loop, f"?page={n}"))) for n in (1, 2, 3)]
        for number in range(45):
            assert sum(f"p{number:02}@example.org Invited" in page for page in pages) == 1
        assert "Members (47)" in pages[0]
        assert words(browser.get(path(loop, "?page=99"))) == pages[2]


class TestInvite:
    def test_a_pending_member_and_a_mail(self, owner: User, loop: Loop, mailoutbox: Any) -> None:
        page = words(invite(signed_in(owner), loop, "ada@example.org"))
        assert "Invitation sent to ada@example.org." in page
        assert "ada@example.org Invited" in page
        (mail,) = mailoutbox
        assert mail.to == ["ada@example.org"]
        assert mail.reply_to == ["owner@example.com"]
        assert mail.subject == "Owner invites you to Refund desk"
        assert loop.join_url in mail.body

    @pytest.mark.parametrize(
        ("typed", "shown"),
        [
            ("Two\nlines <b>&", "Two lines <b>&"),
            ("Two\r\nBcc: eve@example.org", "Two Bcc: eve example org"),
            ("Win at https://evil.example/now", "Win at https evil example now"),
            ("www.evil.com//x\\y evil。com ｅvil．com", "www evil com x y evil com ｅvil com"),
            ("Dr. A. Smith", "Dr. A. Smith"),
            ('Refund" on Review Loop. Pay', "Refund' on Review Loop. Pay"),
            ("x" * 99, "x" * 59 + "…"),
            ("a\tb\x0bc\x0cd\x1ce\x85f\u2028g\u2029h", "a b c d e f g h"),
            ("Pay\x00\x07\x1b[31m now".replace("\x00", ""), "Pay [31m now"),
            ("\u202eksed dnufeR\u202c \u2067x", "ksed dnufeR x"),
            (
                "Zo\u0308e 👩\u200d👩\u200d👧 می\u200cخواهم",
                "Zo\u0308e 👩\u200d👩\u200d👧 می\u200cخواهم",
            ),
        ],
    )
    def test_no_name_breaks_the_mail(
        self, owner: User, loop: Loop, mailoutbox: Any, typed: str, shown: str
    ) -> None:
        Loop.objects.filter(pk=loop.pk).update(name=typed, description=f"{typed}\n\nMore")
        User.objects.filter(pk=owner.pk).update(name=typed)
        invite(signed_in(owner), loop, "ada@example.org")
        (mail,) = mailoutbox
        shown = isolate(shown)
        assert mail.subject == f"{shown} invites you to {shown}"
        assert (mail.to, mail.cc, mail.bcc) == (["ada@example.org"], [], [])
        _, asks, *rest = mail.body.split("\n\n")
        assert asks == f'{shown} (owner@example.com) invited you to join "{shown}" on Review Loop.'
        assert "More" not in mail.body  # nor anything else that they wrote
        assert re.findall(r"https?://\S+", mail.body) == [loop.join_url]
        assert len(rest) == 3
        assert mail.message().as_bytes().count(b"\nBcc") == 0

    def test_names_that_are_nothing_but_a_link(
        self, owner: User, loop: Loop, mailoutbox: Any
    ) -> None:
        Loop.objects.filter(pk=loop.pk).update(name="//")
        User.objects.filter(pk=owner.pk).update(name="@/")
        invite(signed_in(owner), loop, "ada@example.org")
        assert mailoutbox[0].subject == "Someone invites you to a loop"

    @pytest.mark.parametrize("resend", [False, True])
    def test_only_with_a_confirmed_address(
        self, owner: User, loop: Loop, resend: bool, settings: Settings, mailoutbox: Any
    ) -> None:
        settings.REQUIRE_CONFIRMED_ADDRESSES = True
        pending = invite_member(loop=loop, email="grace@example.org")
        again = path(loop, f"members/{pending.member_id}/resend/")
        EmailAddress.objects.filter(user=owner).update(verified=False)
        browser = signed_in(owner)
        assert "Confirm your own email address" in words(browser.get(path(loop)))
        answer = (
            browser.post(again, follow=True) if resend else invite(browser, loop, "ada@example.org")
        )
        assert answer.status_code == (200 if resend else 403)
        sentence = "Confirm your email address first, or share the link yourself"
        assert sentence in words(answer)
        assert mailoutbox == []
        assert not Membership.objects.filter(email="ada@example.org").exists()
        with pytest.raises(InviterUnconfirmed):
            send_invitation(loop=loop, inviter=owner, email="ada@example.org")
        EmailAddress.objects.filter(user=owner).update(verified=True)
        page = words(browser.post(again, follow=True))
        assert "Invitation sent to grace@example.org" in page
        assert "Confirm your own email address" not in page

    def test_where_no_mail_is_sent_nobody_confirms(self, owner: User, loop: Loop) -> None:
        EmailAddress.objects.filter(user=owner).update(verified=False)
        assert invite(signed_in(owner), loop, "ada@example.org").status_code == 200
        assert Membership.objects.filter(email="ada@example.org").exists()

    def test_twice_is_one_member_and_two_mails(
        self, owner: User, loop: Loop, mailoutbox: Any
    ) -> None:
        for _ in range(2):
            invite(signed_in(owner), loop, "ada@example.org")
        assert Membership.objects.filter(loop=loop, status="pending").count() == 1
        assert len(mailoutbox) == 2

    def test_a_mail_server_that_is_away(
        self, owner: User, loop: Loop, settings: Settings, mailoutbox: Any
    ) -> None:
        settings.EMAIL_BACKEND = f"{__name__}.BrokenBackend"
        page = words(invite(signed_in(owner), loop, "ada@example.org"))
        assert "ada@example.org is invited, but we couldn’t send the email." in page
        assert Membership.objects.filter(loop=loop, status="pending").exists()

    @pytest.mark.parametrize(
        ("email", "sentence"),
        [
            ("", "Enter an email address"),
            ("ada", "Enter a full email address"),
            ("member@example.com", "This person is already in the loop"),
        ],
    )
    def test_what_is_wrong_stands_beside_it(
        self, owner: User, loop: Loop, email: str, sentence: str, mailoutbox: Any
    ) -> None:
        response = signed_in(owner).post(path(loop, "invite/"), {"email": email})
        assert response.status_code == 422
        assert sentence in words(response)
        assert f'value="{email}"' in response.content.decode() or not email
        assert mailoutbox == []

    def test_nobody_floods_the_world(
        self, owner: User, loop: Loop, monkeypatch: pytest.MonkeyPatch, mailoutbox: Any
    ) -> None:
        monkeypatch.setattr(members, "MAIL_RATE", "2/h")
        browser = signed_in(owner)
        for _ in range(2):
            invite(browser, loop, "ada@example.org")
        answer = invite(browser, loop, "grace@example.org")
        assert answer.status_code == 429
        assert "share the link yourself" in words(answer)
        assert len(mailoutbox) == 2
        assert not Membership.objects.filter(email="grace@example.org").exists()

    def test_nobody_floods_one_address(
        self, owner: User, loop: Loop, outsider: User, mailoutbox: Any
    ) -> None:
        browser = signed_in(owner)
        other = create_loop(owner_id=owner.pk, name="Legal", icon="star")
        for where in (loop, other, loop, other):
            invite(browser, where, "Ada@example.org")
        pending = Membership.objects.get(loop=loop, email="ada@example.org")
        again = path(loop, f"members/{pending.member_id}/resend/")
        page = words(browser.post(again, follow=True))
        assert "Invitation sent to ada@example.org" in page
        page = words(browser.post(again, follow=True))
        assert "No email was sent to ada@example.org." in page
        assert "This address already got 5 invitations this hour." in page
        answer = invite(browser, loop, "ADA@example.org")
        assert answer.status_code == 429
        assert re.search(r"Wait \d+ min, or share the link yourself", words(answer))
        assert len(mailoutbox) == 5
        invite(browser, loop, "grace@example.org")
        theirs = create_loop(owner_id=outsider.pk, name="Theirs", icon="star")
        invite(signed_in(outsider), theirs, "ada@example.org")
        assert len(mailoutbox) == 7

    def test_many_accounts_do_not_flood_one_mailbox(
        self, loop: Loop, monkeypatch: pytest.MonkeyPatch, mailoutbox: Any
    ) -> None:
        monkeypatch.setattr(members, "RECIPIENT_RATE", "2/d")
        answers = []
        for number, email in enumerate(
            ("ada@example.org", "Ada+1@example.org", "ada+2@EXAMPLE.org")
        ):
            sender = create_account(email=f"sender{number}@example.com", verified=True)
            theirs = create_loop(owner_id=sender.pk, name="Theirs", icon="star")
            answers.append(invite(signed_in(sender), theirs, email))
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert "This address already got 10 invitations today" in words(answers[-1])
        assert int(answers[-1]["Retry-After"]) > 0
        assert len(mailoutbox) == 2

    def test_many_accounts_from_one_network(
        self, loop: Loop, monkeypatch: pytest.MonkeyPatch, mailoutbox: Any
    ) -> None:
        monkeypatch.setattr(members, "IP_RATE", "2/h")
        for number in range(3):
            sender = create_account(email=f"sender{number}@example.com", verified=True)
            theirs = create_loop(owner_id=sender.pk, name="Theirs", icon="star")
            answer = invite(signed_in(sender), theirs, f"ada{number}@example.org")
        assert answer.status_code == 429
        assert "Too many invitations were sent from your network." in words(answer)
        assert len(mailoutbox) == 2
        elsewhere = Client(REMOTE_ADDR="203.0.113.9")
        elsewhere.force_login(sender)
        assert invite(elsewhere, theirs, "ada9@example.org").status_code == 200

    def test_without_redis_nothing_is_counted(
        self, owner: User, loop: Loop, monkeypatch: pytest.MonkeyPatch, mailoutbox: Any
    ) -> None:
        monkeypatch.setattr(members, "MAIL_RATE", "1/h")
        monkeypatch.setattr(RedisCache, "incr", away)
        monkeypatch.setattr(RedisCache, "add", away)
        browser = signed_in(owner)
        for number in range(2):
            assert invite(browser, loop, f"ada{number}@example.org").status_code == 200
        assert len(mailoutbox) == 2

    def test_resending(self, owner: User, loop: Loop, mailoutbox: Any) -> None:
        pending = invite_member(loop=loop, email="ada@example.org")
        again = path(loop, f"members/{pending.member_id}/resend/")
        page = words(signed_in(owner).post(again, follow=True))
        assert "Invitation sent to ada@example.org" in page
        assert [mail.to for mail in mailoutbox] == [["ada@example.org"]]
        Membership.objects.filter(pk=pending.pk).delete()
        page = words(signed_in(owner).post(again, follow=True))
        assert "This invitation is no longer open." in page
        assert len(mailoutbox) == 1


class TestRemove:
    def test_they_lose_access_and_what_they_held_goes_back(
        self, owner: User, member: User, loop: Loop, make: Make
    ) -> None:
        request = make()
        services.claim_request(request=request, reviewer_id=member.pk)
        target = path(loop, f"members/{member.pk}/remove/")
        assert "Member removed." in words(signed_in(owner).post(target, follow=True))
        assert services.read_request(request.pk).status == "pending"
        assert "no longer in the loop" in words(signed_in(owner).post(target, follow=True))

    def test_the_creator_stays(self, owner: User, loop: Loop) -> None:
        target = path(loop, f"members/{owner.pk}/remove/")
        page = words(signed_in(owner).post(target, follow=True))
        assert "You created this loop, so you can’t be removed from it." in page
        assert loop.memberships.filter(member_id=owner.pk).exists()

    def test_not_by_a_member(self, member: User, owner: User, loop: Loop) -> None:
        target = path(loop, f"members/{member.pk}/remove/")
        assert signed_in(member).post(target).status_code == 404
        assert loop.memberships.count() == 2


class TestShare:
    def test_code_link_and_picture(self, owner: User, loop: Loop) -> None:
        response = signed_in(owner).get(path(loop))
        page = words(response)
        assert loop.join_url in page
        assert " ".join(loop.invite_code[at : at + 4] for at in (0, 4, 8)) in page
        assert f'src="/qr/{loop.invite_code}.png"' in response.content.decode()

    def test_a_sheet_to_print(self, owner: User, loop: Loop) -> None:
        page = words(signed_in(owner).get(path(loop, "sheet/")))
        assert f"Refund desk Scan it with your phone’s camera, or open {loop.join_url}" in page

    def test_a_new_code_retires_the_old_one(self, owner: User, loop: Loop) -> None:
        browser, old = signed_in(owner), loop.invite_code
        page = words(browser.post(path(loop, "rotate/"), follow=True))
        assert "The loop has a new code and link." in page
        loop.refresh_from_db()
        assert loop.invite_code != old
        assert browser.get(f"/join/{old}").status_code == 404

    def test_how_to_ask(self, owner: User, loop: Loop) -> None:
        page = words(signed_in(owner).get(path(loop)))
        assert f"/v1/api/loops/{loop.pk}/requests" in page
        for language in ("curl", "requests.post(", "await fetch("):
            assert language in page
