"""/settings/tokens/: a person's review tokens, created, shown once and revoked."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import AuditEntry, ReviewToken, User
from db.ids import new_id
from loops.models import Loop
from reviews.services import remove_member
from tests.accounts.tokens import row_of, token_of
from tests.conftest import Api
from tests.portal import attribute, long_signed_in, signed_in, words

pytestmark = pytest.mark.django_db
PAGE = "/settings/tokens/"
LIST = "/v1/review/requests"


def create(browser: Client, **fields: str) -> Any:
    form = browser.get(f"{PAGE}new/").content.decode()
    found = re.search(r'name="token" value="([^"]+)"', form)
    assert found
    sent = {"name": "Laptop", "days": "7", "token": found[1], **fields}
    return browser.post(f"{PAGE}new/", sent)


def acted(person: User) -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(account=person, action__startswith="review_token")
    return list(rows.order_by("created_at", "id").values_list("action", "subject"))


def test_from_the_form_to_a_call_and_the_revocation(
    member: User, loop: Loop, api: type[Api]
) -> None:
    browser = signed_in(member)
    assert "No review tokens" in words(browser.get(PAGE))
    made = create(browser)
    assert made.status_code == 302
    shown = browser.get(made.url)
    secret = (
        attribute(shown, "data-copy>\\s*<code[^>]*>")
        or re.findall(r"rl_review_\w{36}", shown.content.decode())[0]
    )
    assert "shown only once" in words(shown)
    row = ReviewToken.objects.get(user=member)
    assert (row.expires_at - row.created_at).days in (6, 7)
    assert api(secret).get(LIST).status_code == 200
    again = browser.get(made.url, follow=True)
    assert "A token is shown only once" in words(again)
    assert secret not in again.content.decode()
    listed = words(browser.get(PAGE))
    assert f"rl_review_…{secret[-4:]}" in listed
    assert "last used just now" in listed
    ended = browser.post(f"{PAGE}{row.pk}/revoke/", follow=True)
    assert "Revoked. Calls with this token are refused from now on." in words(ended)
    assert api(secret).get(LIST).status_code == 401
    again = browser.post(f"{PAGE}{row.pk}/revoke/", follow=True)
    assert "This token had already ended." in words(again)
    named = f"Laptop (rl_review_…{secret[-4:]})"
    assert acted(member) == [("review_token.created", named), ("review_token.revoked", named)]


def test_a_form_sent_twice_makes_one(member: User) -> None:
    browser = signed_in(member)
    form = browser.get(f"{PAGE}new/")
    token = attribute(form, 'name="token" value')
    for _ in range(2):
        browser.post(f"{PAGE}new/", {"name": "a", "days": "1", "token": token})
    assert ReviewToken.objects.filter(user=member).count() == 1


def test_invalid_forms(member: User) -> None:
    browser = signed_in(member)
    for fields, said in (
        ({"name": " "}, "Give the token a name"),
        ({"days": "365"}, "Select a valid choice"),
        ({"days": ""}, "Choose how long the token is valid"),
        ({"token": "x"}, "This page had expired. Nothing was created."),
    ):
        refused = create(browser, **fields)
        assert refused.status_code == 422
        assert said in words(refused)
    assert not ReviewToken.objects.exists()


def test_the_person_confirms_first(member: User) -> None:
    asked = create(long_signed_in(member))
    assert "/accounts/reauthenticate/" in asked.url
    assert not ReviewToken.objects.exists()


def test_nobody_else_sees_or_revokes_it(member: User, owner: User) -> None:
    row = row_of(token_of(member))
    browser = signed_in(owner)
    assert "Laptop" not in words(browser.get(PAGE))
    for token_id in (row.pk, new_id()):
        assert browser.post(f"{PAGE}{token_id}/revoke/").status_code == 404
    assert browser.get(f"{PAGE}{row.pk}/", follow=True).redirect_chain[-1][0] == PAGE
    row.refresh_from_db()
    assert row.revoked_at is None


def test_leaving_the_last_loop_ends_it(member: User, owner: User, loop: Loop) -> None:
    row = row_of(token_of(member))
    remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk)
    assert "Revoked" in words(signed_in(member).get(PAGE))
    assert [action for action, _ in acted(member)] == [
        "review_token.created",
        "review_token.ended",
    ]
    assert row.pk == ReviewToken.objects.get().pk


def test_how_many_statements(
    member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(member)
    for count in (1, 30):
        for _ in range(count):
            token_of(member)
        with django_assert_num_queries(3):
            browser.get(PAGE)
