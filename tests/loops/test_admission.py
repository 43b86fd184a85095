"""Who may join a loop: by confirmed address, by domain, or by an invitation."""

import pytest
from allauth.account.models import EmailAddress
from pytest_django import Settings

from accounts.models import User
from accounts.services import create_account
from loops.admission import (
    AddressUnconfirmed,
    InvalidDomain,
    NotAdmitted,
    OtherDomain,
    clean_domains,
    needs_confirmation,
)
from loops.models import Loop, Membership
from loops.services import invite_member, join_loop

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _sends_mail(settings: Settings) -> None:
    """As where a mail server is configured."""
    settings.REQUIRE_CONFIRMED_ADDRESSES = True


def person(email: str = "nora@example.org", *, verified: bool = False) -> User:
    return create_account(email=email, name="Nora", verified=verified)


def joined(loop: Loop, user: User) -> bool:
    return Membership.objects.filter(loop=loop, user=user, status="active").exists()


def limit(loop: Loop, **fields: object) -> Loop:
    Loop.objects.filter(pk=loop.pk).update(**fields)
    loop.refresh_from_db()
    return loop


def test_a_new_loop_asks_for_a_confirmed_address(loop: Loop) -> None:
    assert (loop.require_verified, loop.allowed_domains) == (True, [])
    stranger = person()
    with pytest.raises(AddressUnconfirmed):
        join_loop(user=stranger, code=loop.invite_code)
    assert not Membership.objects.filter(loop=loop, member_id=stranger.pk).exists()
    EmailAddress.objects.filter(user=stranger).update(verified=True)
    join_loop(user=stranger, code=loop.invite_code)
    assert joined(loop, stranger)


def test_where_no_mail_is_sent_nobody_can_confirm(loop: Loop, settings: Settings) -> None:
    settings.REQUIRE_CONFIRMED_ADDRESSES = False
    assert not needs_confirmation(loop)
    join_loop(user=(stranger := person()), code=loop.invite_code)
    assert joined(loop, stranger)


def test_a_loop_may_admit_anybody(loop: Loop) -> None:
    join_loop(user=(stranger := person()), code=limit(loop, require_verified=False).invite_code)
    assert joined(loop, stranger)


def test_another_confirmed_address_does_not_count(loop: Loop) -> None:
    """The members' list shows the account's address, so that one has to be confirmed."""
    stranger = person()
    EmailAddress.objects.create(user=stranger, email="b@example.org", verified=True)
    with pytest.raises(AddressUnconfirmed):
        join_loop(user=stranger, code=loop.invite_code)


class TestDomains:
    @pytest.mark.parametrize("require_verified", [True, False])
    @pytest.mark.parametrize("sends_mail", [True, False])
    def test_an_address_that_is_only_typed_is_no_key(
        self, loop: Loop, require_verified: bool, sends_mail: bool, settings: Settings
    ) -> None:
        settings.REQUIRE_CONFIRMED_ADDRESSES = sends_mail
        limit(loop, allowed_domains=["example.org"], require_verified=require_verified)
        assert needs_confirmation(loop)
        with pytest.raises(AddressUnconfirmed):
            join_loop(user=person(), code=loop.invite_code)

    @pytest.mark.parametrize(
        "email",
        [
            "nora@evil.example",
            "nora@sub.example.org",
            "nora@example.org.evil.example",
            "nora@notexample.org",
            "nora@example.co",
            "example.org@evil.example",
        ],
    )
    def test_other_domains(self, loop: Loop, email: str) -> None:
        limit(loop, allowed_domains=["example.com", "example.org"])
        with pytest.raises(OtherDomain):
            join_loop(user=person(email, verified=True), code=loop.invite_code)

    def test_the_domain(self, loop: Loop) -> None:
        limit(loop, allowed_domains=["example.com", "example.org"])
        join_loop(user=(user := person(verified=True)), code=loop.invite_code)
        assert joined(loop, user)

    def test_a_domain_with_other_letters(self, loop: Loop) -> None:
        limit(loop, allowed_domains=clean_domains(["BÜCHER.example"]))
        assert loop.allowed_domains == ["xn--bcher-kva.example"]
        join_loop(user=(user := person("n@bücher.example", verified=True)), code=loop.invite_code)
        assert joined(loop, user)

    @pytest.mark.parametrize(
        "typed", ["", "example", "a b.example", "x@example.org", "http://e.org", "*.org", "-a.org"]
    )
    def test_what_is_no_domain(self, typed: str) -> None:
        with pytest.raises(InvalidDomain):
            clean_domains([typed])

    def test_twenty_at_most(self) -> None:
        assert clean_domains([f"@D{number}.example" for number in range(20)])[0] == "d0.example"
        with pytest.raises(InvalidDomain):
            clean_domains([f"d{number}.example" for number in range(21)])


class TestInvited:
    def test_at_any_domain_once_confirmed(self, loop: Loop) -> None:
        limit(loop, allowed_domains=["example.com"])
        invite_member(loop=loop, email="nora@example.org")
        stranger = person()
        with pytest.raises(NotAdmitted):
            join_loop(user=stranger, code=loop.invite_code)
        EmailAddress.objects.filter(user=stranger).update(verified=True)
        join_loop(user=stranger, code=loop.invite_code)
        assert joined(loop, stranger)

    def test_somebody_elses_invitation_admits_nobody(self, loop: Loop) -> None:
        limit(loop, allowed_domains=["example.com"])
        invite_member(loop=loop, email="nora@example.org")
        with pytest.raises(OtherDomain):
            join_loop(user=person("eve@example.org", verified=True), code=loop.invite_code)


def test_members_stay_and_rejoining_is_joining(loop: Loop, member: User) -> None:
    limit(loop, allowed_domains=["corp.example"])
    EmailAddress.objects.filter(user=member).update(verified=False)
    assert join_loop(user=member, code=loop.invite_code) == loop.pk
    assert joined(loop, member)
    Membership.objects.filter(loop=loop, user=member).delete()
    with pytest.raises(OtherDomain):
        join_loop(user=member, code=loop.invite_code)
