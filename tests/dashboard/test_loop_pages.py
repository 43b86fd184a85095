"""Loops in the dashboard: the list, making, editing, deleting."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, invite_member
from reviews import services
from reviews.models import Request
from tests.dashboard.many import copies
from tests.portal import signed_in, words
from tests.reviews.conftest import Make, make_overdue
from web import form_tokens
from web.keyset import format_cursor

pytestmark = pytest.mark.django_db

LIST = "/dashboard/loops/"
FIELDS = {"name": "Legal", "description": "Contracts", "icon": "certificate"}


def listed(answer: Any) -> list[str]:
    """The ids of the loops on the page, from top to bottom."""
    table = answer.content.decode().partition("<tbody")[2]
    found: list[str] = re.findall(rf'href="{LIST}([0-9a-f]{{24}})/"', table)
    return found


def token(browser: Client) -> str:
    """What the form that was just opened carries."""
    html = browser.get(f"{LIST}new/").content.decode()
    (found,) = re.findall(r'name="once" value="([^"]+)"', html)
    return str(found)


class TestList:
    def test_newest_first_with_its_figures(self, owner: User, loop: Loop, make: Make) -> None:
        invite_member(loop=loop, email="new@example.org")
        make()
        make_overdue(make())
        other = create_loop(owner_id=owner.pk, name="Legal", icon="certificate")
        response = signed_in(owner).get(LIST)
        assert listed(response) == [other.pk, loop.pk]
        assert "Refund desk Members: 2 2 and 1 invited Open 1 just now" in words(response)
        assert "Legal Members: 1 1 Open 0 just now" in words(response)

    def test_only_my_own(self, member: User, loop: Loop) -> None:
        page = words(signed_in(member).get(LIST))
        assert "Create your first loop" in page
        assert "/v1/api/loops \\ -H" in page

    def test_a_deleted_loop_is_gone(self, owner: User, loop: Loop) -> None:
        services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
        assert listed(signed_in(owner).get(LIST)) == []

    def test_page_by_page_at_the_same_cost(
        self, owner: User, loop: Loop, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        made = [create_loop(owner_id=owner.pk, name=f"L{n}", icon="x") for n in range(60)]
        Loop.objects.filter(pk__in=[each.pk for each in made[:30]]).update(
            created_at=loop.created_at  # ties, which the id decides
        )
        expected = [each.pk for each in Loop.objects.of_creator(owner.pk).newest_first()]
        browser, found, path = signed_in(owner), [], LIST
        while path:
            with django_assert_num_queries(4):
                response = browser.get(path)
            assert len(response.content) < 64_000
            found += listed(response)
            older = re.search(r'href="(\?before=[0-9a-f-]+)">Older', response.content.decode())
            path = LIST + older[1] if older else ""
        assert found == expected

    def test_behind_the_oldest_is_nothing(self, owner: User, loop: Loop) -> None:
        cursor = format_cursor((loop.created_at, loop.pk))
        response = signed_in(owner).get(f"{LIST}?before={cursor}")
        assert "No older loops" in words(response)
        assert listed(response) == []


class TestCreate:
    def test_a_loop_is_made_and_shown(self, owner: User) -> None:
        browser = signed_in(owner)
        response = browser.post(f"{LIST}new/", {**FIELDS, "once": token(browser)}, follow=True)
        (loop,) = Loop.objects.of_creator(owner.pk)
        assert response.redirect_chain == [(f"{LIST}{loop.pk}/", 302)]
        assert (loop.name, loop.description, loop.icon) == ("Legal", "Contracts", "certificate")
        assert "Loop created." in words(response)

    def test_a_double_click_makes_one(self, owner: User) -> None:
        browser = signed_in(owner)
        fields = {**FIELDS, "once": token(browser)}
        first, second = (browser.post(f"{LIST}new/", fields) for _ in range(2))
        assert first["Location"] == second["Location"]
        assert Loop.objects.count() == 1

    def test_a_token_of_somebody_else_makes_a_loop_of_its_own(
        self, owner: User, outsider: User
    ) -> None:
        stolen = form_tokens.issue("loop", outsider.pk)
        signed_in(owner).post(f"{LIST}new/", {**FIELDS, "once": stolen})
        assert Loop.objects.get().creator == owner

    @pytest.mark.parametrize(
        ("field", "value", "sentence"),
        [
            ("name", "", "Give the loop a name"),
            ("name", "  ", "Give the loop a name"),
            ("name", "x" * 101, "at most 100 characters"),
            ("name", "a\0b", "Null characters are not allowed."),
            ("description", "x" * 501, "at most 500 characters"),
            ("icon", "rocket", "is not one of the available choices"),
            ("icon", "", "Choose an icon"),
        ],
    )
    def test_what_is_wrong_stands_beside_what_was_typed(
        self, owner: User, field: str, value: str, sentence: str
    ) -> None:
        response = signed_in(owner).post(f"{LIST}new/", {**FIELDS, field: value})
        assert response.status_code == 422
        assert sentence in words(response)
        kept = "Contracts" if field != "description" else "Legal"
        assert kept in response.content.decode()
        assert not Loop.objects.exists()


class TestEdit:
    def test_what_changed_is_stored(self, owner: User, loop: Loop) -> None:
        path = f"{LIST}{loop.pk}/edit/"
        assert 'value="Refund desk"' in signed_in(owner).get(path).content.decode()
        response = signed_in(owner).post(path, FIELDS, follow=True)
        assert "Saved." in words(response)
        loop.refresh_from_db()
        assert (loop.name, loop.description, loop.icon) == ("Legal", "Contracts", "certificate")

    def test_an_icon_of_a_programs_choice_may_stay(self, owner: User) -> None:
        loop = create_loop(owner_id=owner.pk, name="Odd", icon="rocket-9")
        path = f"{LIST}{loop.pk}/edit/"
        assert 'value="rocket-9" checked' in signed_in(owner).get(path).content.decode()
        signed_in(owner).post(path, {"name": "Even", "icon": "rocket-9"})
        loop.refresh_from_db()
        assert (loop.name, loop.icon) == ("Even", "rocket-9")

    def test_what_was_typed_is_kept(self, owner: User, loop: Loop) -> None:
        response = signed_in(owner).post(f"{LIST}{loop.pk}/edit/", {**FIELDS, "name": "y" * 101})
        assert response.status_code == 422
        assert "y" * 101 in response.content.decode()


class TestDelete:
    def test_it_says_what_happens_to_open_requests(
        self, owner: User, loop: Loop, make: Make
    ) -> None:
        make()
        make()
        page = words(signed_in(owner).get(f"{LIST}{loop.pk}/edit/"))
        assert "2 open requests will be cancelled." in page

    def test_its_name_has_to_be_typed(self, owner: User, loop: Loop, make: Make) -> None:
        request = make()
        path = f"{LIST}{loop.pk}/delete/"
        response = signed_in(owner).post(path, {"typed": "refund"}, follow=True)
        assert "Nothing was deleted" in words(response)
        assert Loop.objects.alive().filter(pk=loop.pk).exists()
        response = signed_in(owner).post(path, {"typed": " Refund  desk"}, follow=True)
        assert "Refund desk was deleted" in words(response)
        assert services.read_request(request.pk).status == "cancelled"

    def test_a_stale_page_gets_a_sentence(self, owner: User, loop: Loop) -> None:
        services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
        browser = signed_in(owner)
        for path in ("", "edit/", "sheet/"):
            response = browser.get(f"{LIST}{loop.pk}/{path}", follow=True)
            assert response.status_code == 200
            assert "The loop Refund desk was deleted." in words(response)
        for path in ("edit/", "delete/", "invite/", "rotate/"):
            response = browser.post(f"{LIST}{loop.pk}/{path}", {**FIELDS, "email": "a@b.org"})
            assert response["Location"] == LIST


class TestAccess:
    @pytest.mark.parametrize("path", ["", "edit/", "sheet/"])
    def test_pages_of_others_are_not_found(
        self, member: User, outsider: User, loop: Loop, path: str
    ) -> None:
        for person in (member, outsider):
            assert signed_in(person).get(f"{LIST}{loop.pk}/{path}").status_code == 404

    @pytest.mark.parametrize(
        "path", ["edit/", "delete/", "invite/", "rotate/", "members/x/remove/", "members/x/resend/"]
    )
    def test_nor_can_they_be_changed(self, outsider: User, loop: Loop, path: str) -> None:
        fields = {**FIELDS, "typed": loop.name, "email": "a@b.org"}
        response = signed_in(outsider).post(f"{LIST}{loop.pk}/{path}", fields)
        assert response.status_code == 404
        assert Loop.objects.alive().filter(name="Refund desk", invite_code=loop.invite_code)

    @pytest.mark.parametrize("loop_id", ["x", "0" * 24, "%00"])
    def test_ids_that_there_are_not(self, owner: User, loop_id: str) -> None:
        assert signed_in(owner).get(f"{LIST}{loop_id}/").status_code == 404

    def test_strangers_come_back_to_the_form(self, client: Client, loop: Loop, owner: User) -> None:
        path = f"{LIST}{loop.pk}/rotate/"
        assert client.post(path)["Location"] == f"/accounts/login/?next={path}"
        assert signed_in(owner).get(path)["Location"] == f"{LIST}{loop.pk}/"

    def test_only_forms_change_things(self, owner: User, loop: Loop) -> None:
        assert signed_in(owner).put(f"{LIST}{loop.pk}/rotate/").status_code == 405


def test_a_loop_with_much_in_it_costs_the_same(
    owner: User,
    member: User,
    loop: Loop,
    make: Make,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    answered = make()
    services.answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    copies(services.read_request(answered.pk), 300)
    for number in range(60):
        invite_member(loop=loop, email=f"{'long' * 10}{number}@example.org")
    Request.objects.filter(pk=answered.pk).update(
        created_at=answered.created_at - timedelta(seconds=30)
    )
    browser = signed_in(owner)
    with django_assert_num_queries(8):
        response = browser.get(f"{LIST}{loop.pk}/")
    assert len(response.content) < 65_000


def test_the_form_has_the_name_as_it_is(owner: User) -> None:
    """A name that is written from right to left gets no marks of ours."""
    name = "מכתבים " * 14
    loop = create_loop(owner_id=owner.pk, name=name.strip(), icon="x")
    browser, path = signed_in(owner), f"{LIST}{loop.pk}/edit/"
    form = browser.get(path).context["form"]
    assert form.initial["name"] == loop.name
