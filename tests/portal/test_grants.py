"""Allowing equal calls for a while, in the form of an approval, and the two lists of grants."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from db.ids import new_id
from loops.models import Loop
from reviews.models import Grant, Request
from tests.portal import signed_in, words
from tests.reviews.grants import ARGUMENTS, Agent, allow, is_covered

pytestmark = pytest.mark.django_db
MINE, THEIRS = "/settings/grants/", "/dashboard/grants/"
OFFER = "Approve and allow for a while"


@pytest.fixture
def agent(owner: User, loop: Loop) -> Agent:
    return Agent(owner, loop)


def post(person: User, request: Request, **fields: Any) -> Any:
    form = {"answer": "approve.grant", "grant-hours": "4", "grant-uses": "7", **fields}
    return signed_in(person).post(f"/inbox/{request.pk}/answer/", form)


def test_all_arguments(agent: Agent, member: User) -> None:
    request = agent.ask()
    assert OFFER in words(signed_in(member).get(f"/inbox/{request.pk}/"))
    assert post(member, request, **{"grant-name": ["0", "1", "2"]}).status_code == 303
    grant = Grant.objects.get()
    assert (grant.names, grant.max_uses, grant.person) == (None, 7, member)
    assert (grant.expires_at - grant.created_at).total_seconds() == pytest.approx(4 * 3600, abs=5)
    assert is_covered(agent.ask())


def test_some_arguments(agent: Agent, member: User) -> None:
    post(member, agent.ask(), **{"grant-name": ["0"]})
    assert Grant.objects.get().names == ["order"]
    assert is_covered(agent.ask({**ARGUMENTS, "amount": 5}))


def test_a_call_without_arguments(agent: Agent, member: User) -> None:
    post(member, agent.ask({}))
    assert Grant.objects.get().names is None
    assert is_covered(agent.ask({}))
    assert not is_covered(agent.ask({"a": 1}))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"grant-hours": "9"}, "Choose 1 to 8 hours"),
        ({"grant-uses": "many"}, "Enter whole numbers for hours and uses"),
        ({"grant-uses": "101"}, "Choose 1 to 100 uses"),
        ({"grant-name": ["9"]}, "Choose one argument of the call or more"),
    ],
)
def test_wrong_fields(agent: Agent, member: User, fields: dict[str, Any], said: str) -> None:
    request = agent.ask()
    refused = post(member, request, **{"grant-name": ["0"], **fields})
    assert refused.status_code == 422
    assert said in words(refused)
    assert not Grant.objects.exists()
    request.refresh_from_db()
    assert request.status == "pending"


def test_not_offered(agent: Agent, member: User, loop: Loop) -> None:
    critical, high = agent.ask(priority="critical"), agent.ask(proposal={"risk": "high"})
    for request in (critical, high):
        assert OFFER not in words(signed_in(member).get(f"/inbox/{request.pk}/"))
        assert post(member, request).status_code == 422
    usual = agent.ask()
    Loop.objects.filter(pk=loop.pk).update(forbids_grants=True)
    assert OFFER not in words(signed_in(member).get(f"/inbox/{usual.pk}/"))
    assert post(member, usual).status_code == 422


def test_only_this_call(agent: Agent, member: User) -> None:
    signed_in(member).post(f"/inbox/{agent.ask().pk}/answer/", {"answer": "approve"})
    assert not Grant.objects.exists()


@pytest.mark.contract("grant.revoke")
@pytest.mark.parametrize("page", [MINE, THEIRS])
def test_the_lists(agent: Agent, owner: User, member: User, outsider: User, page: str) -> None:
    person = member if page == MINE else owner
    empty = words(signed_in(person).get(page))
    assert "No calls are allowed for a while" in empty
    grant = allow(agent.ask(proposal={"name": "re\u202efund"}), member)
    agent.ask(proposal={"name": "re\u202efund"})
    listed = signed_in(person).get(page)
    where = "/inbox/" if page == MINE else "/dashboard/requests/"
    assert f'href="{where}{grant.request_id}/"' in listed.content.decode()
    shown = words(listed)
    for part in ("re‹U+202E›fund", "Used 1 of 3 times", "Loop Refund desk.", "Active"):
        assert part in shown
    assert ("Key test, allowed by Member." in shown) is (page == THEIRS)
    for stranger in (outsider, owner if page == MINE else member):
        assert "refund" not in words(signed_in(stranger).get(page))
        assert signed_in(stranger).post(f"{page}{grant.pk}/revoke/").status_code == 404
    assert signed_in(person).post(f"{page}{new_id()}/revoke/").status_code == 404
    browser = signed_in(person)
    done = browser.post(f"{page}{grant.pk}/revoke/", follow=True)
    assert "Revoked. Each of these calls is asked about again." in words(done)
    assert not is_covered(agent.ask(proposal={"name": "re\u202efund"}))
    again = browser.post(f"{page}{grant.pk}/revoke/", follow=True)
    assert "This grant was already revoked." in words(again)


@pytest.mark.parametrize("page", [MINE, THEIRS])
def test_how_many_statements(
    agent: Agent,
    owner: User,
    member: User,
    page: str,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    browser = signed_in(member if page == MINE else owner)
    for count in (1, 5):
        for number in range(count):
            allow(agent.ask({"number": [count, number]}), member)
        with django_assert_num_queries(3):
            browser.get(page)


def test_the_page_of_the_request_says_so(agent: Agent, owner: User, member: User) -> None:
    grant = allow(agent.ask(), member)
    shown = signed_in(owner).get(f"/dashboard/requests/{agent.ask().pk}/")
    assert "by a standing grant" in words(shown)
    assert f"{THEIRS}#grant-{grant.pk}" in shown.content.decode()


def test_the_owner_forbids_them(agent: Agent, owner: User, member: User, loop: Loop) -> None:
    allow(agent.ask(), member)
    form = {"name": loop.name, "icon": loop.icon, "grants": "forbidden"}
    signed_in(owner).post(f"/dashboard/loops/{loop.pk}/edit/", form)
    assert Loop.objects.get(pk=loop.pk).forbids_grants
    assert not is_covered(agent.ask())
    assert Grant.objects.get().revoked_at
