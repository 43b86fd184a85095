"""Forms are filled in again after the session has ended, or after signing in in another tab."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts import sessions
from accounts.models import ApiKey, User
from accounts.services import create_api_key
from accounts.session_store import hash_key
from accounts.tasks import forget_sessions
from loops.models import Loop, Membership
from reviews import services
from reviews.models import EmailPreference, Feedback, Request
from tests.conftest import PASSWORD
from tests.portal import attribute, controls, signed_in, words
from tests.reviews.conftest import Make
from web import form_recovery, guards
from webhooks.models import Delivery

SAID, OLD_PAGE = str(form_recovery.SAID), str(guards.OLD_PAGE)

BASE = "/dashboard/"
KEY = {"name": "Refund bot", "permissions": ["loops:read"], "expires_at": "2099-03-01T10:00"}
QUESTION = {"request_text": "May it go?", "response_type": "rating", "scale_max": "7"}
FORMS: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "keys/new/",
        KEY,
        ['value="Refund bot"', 'value="loops:read"[^>]* checked', 'value="2099-03-01T10:00"'],
    ),
    ("loops/new/", {"name": "Legal", "icon": "certificate"}, ["Legal", '"certificate" checked']),
    (
        "loops/{loop}/edit/?",
        {"name": "Refunds", "icon": "heart", "policy_rule": "majority", "policy_veto": "no\nnever"},
        ['"majority" selected', "no\\s+never</textarea>", "policy-fields. open"],
    ),
    ("loops/{loop}/edit/", {"name": "Refunds", "icon": "heart"}, ["Refunds", '"heart" checked']),
    ("loops/{loop}/invite/", {"email": "ada@example.org"}, ['value="ada@example.org"']),
    (
        "requests/new/?from={request}",
        {**QUESTION, "replaces": "on", "policy_rule": "median", "policy_answers": "5"},
        ["policy-fields. open", '"median" selected', 'name="replaces"[^>]* checked'],
    ),
    ("requests/new/", QUESTION, [">\\s*May it go\\?", '"rating"[^>]* checked', 'value="7"']),
    (
        "requests/{request}/feedback/",
        {"rating": "4", "comment": "Fine!"},
        ['"4" selected', "Fine!"],
    ),
    ("account/", {"name": "Olive", "time_zone": "Asia/Tokyo"}, ["Olive", 'Tokyo" selected']),
    (
        "deliveries/test/",
        {"url": "https://a.example/hook"},
        ['id="test" open', 'value="https://a.example/hook"'],
    ),
    (
        "deliveries/resend-dead/",
        {"since": "2026-01-02T03:04"},
        ['id="dead" open', "2026-01-02T03:04"],
    ),
    ("keys/{key}/roll/", {"overlap": "168"}, ['value="168"[^>]* checked']),
]


@pytest.fixture
def ids(owner: User, member: User, loop: Loop, make: Make) -> dict[str, str]:
    request = make()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    key, _ = create_api_key(user=owner, name="CI")
    return {"loop": loop.pk, "request": request.pk, "key": key.pk}


def expire(browser: Client) -> None:
    browser.session.flush()


def sign_in(browser: Client, user: User, answer: Any) -> Any:
    """From an answer that leads to the sign-in page, to where that leads."""
    assert answer["Location"].startswith("/accounts/login/?next=/dashboard/")
    where = unquote(answer["Location"].partition("next=")[2])
    form = {"login": user.email, "password": PASSWORD, "next": where}
    return browser.post("/accounts/login/", form, follow=True)


@pytest.mark.parametrize(("path", "typed", "there"), FORMS, ids=[form[0] for form in FORMS])
def test_what_was_typed_is_there_again(
    owner: User, ids: dict[str, str], path: str, typed: dict[str, Any], there: list[str]
) -> None:
    browser = signed_in(owner)
    expire(browser)
    where = BASE + path.format(**ids)
    before = counts()
    answer = sign_in(browser, owner, browser.post(where, {**typed, "person": owner.pk}))
    page = answer.content.decode()
    assert answer.status_code == 200
    assert SAID in words(answer)
    assert [each for each in there if not re.search(each, page)] == []
    assert counts() == before
    assert f'name="person" value="{owner.pk}"' in form_with(page, *typed)
    again = browser.get(answer.request["PATH_INFO"])
    assert SAID not in words(again)
    assert not all(re.search(each, again.content.decode()) for each in there)


def form_with(page: str, *names: str) -> str:
    """The form of the page that has fields of these names."""
    forms: list[str] = re.findall(r"<form.*?</form>", page, re.DOTALL)
    (found,) = (each for each in forms if all(f'name="{name}"' in each for name in names))
    return found


def test_somebody_else_finds_nothing(owner: User, outsider: User) -> None:
    """A person's page is still open on a device when somebody else signs in."""
    browser = signed_in(owner)
    expire(browser)
    typed = {"name": "Legal", "person": owner.pk}
    page = sign_in(browser, outsider, browser.post(f"{BASE}loops/new/", typed))
    assert page.status_code == 200
    assert "Legal" not in page.content.decode()
    page = browser.get(f"{BASE}loops/new/")
    assert "Legal" not in page.content.decode()


def test_an_address_is_kept_on_the_page_of_another_maker(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    typed = {"email": "ada@example.org", "action_add": "", "person": owner.pk}
    response = browser.post("/accounts/email/", typed)
    form = {"login": owner.email, "password": PASSWORD, "next": "/accounts/email/"}
    assert response["Location"] == "/accounts/login/?next=/accounts/email/"
    page = browser.post("/accounts/login/", form, follow=True)
    assert SAID in words(page)
    form_found = form_with(page.content.decode(), "email", "action_add")
    assert 'value="ada@example.org"' in form_found
    assert f'name="person" value="{owner.pk}"' in form_found
    assert EmailAddress.objects.filter(user=owner).count() == 1


def counts() -> list[int]:
    """Of everything that these forms could make or change."""
    tables: list[Any] = [ApiKey, Loop, Membership, Request, Feedback, Delivery]
    return [table.objects.count() for table in tables]


def test_secrets_are_not_kept(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    response = browser.post(f"{BASE}webhook-secret/set/", {"secret": "a secret of my own"})
    assert "a secret of my own" not in str(dict(browser.session))
    page = sign_in(browser, owner, response)
    assert page.request["PATH_INFO"] == f"{BASE}webhook-secret/"
    assert "a secret of my own" not in page.content.decode()


def test_nor_is_what_no_person_types(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    response = browser.post(f"{BASE}keys/new/", {"name": "x" * (form_recovery.MAX_LENGTH + 1)})
    assert SAID not in words(sign_in(browser, owner, response))


def test_it_is_for_its_own_page(owner: User, loop: Loop) -> None:
    browser = signed_in(owner)
    expire(browser)
    browser.post(f"{BASE}loops/new/", {"name": "Legal", "person": owner.pk})
    browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    assert 'value="Refund desk"' in browser.get(f"{BASE}loops/{loop.pk}/edit/").content.decode()
    assert 'value="Legal"' in browser.get(f"{BASE}loops/new/").content.decode()


def test_whoever_comes_much_later_finds_nothing(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    response = browser.post(f"{BASE}loops/new/", {"name": "Legal", "person": owner.pk})
    session = browser.session
    session["kept_form"]["at"] -= form_recovery.MAX_WAIT + 1
    session.save()
    page = sign_in(browser, owner, response)
    assert "Legal" not in page.content.decode()


class TestAnOldToken:
    """Signing in gives a browser another token, and the pages in its other tabs have the old."""

    HERE = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html,*/*"}
    WITHOUT_TLS = {"Origin": "http://testserver", "Accept": "text/html,*/*"}

    def in_another_tab(self, user: User) -> tuple[Client, str]:
        """A browser in which the person has signed in again, and the token from before."""
        browser = signed_in(user, enforce_csrf_checks=True)
        old = attribute(browser.get("/accounts/logout/"), 'csrfmiddlewaretoken" value')
        expire(browser)
        form = {"login": user.email, "password": PASSWORD, "csrfmiddlewaretoken": old}
        assert browser.post("/accounts/login/", form).status_code == 302
        return browser, old

    @pytest.mark.parametrize(("path", "typed", "there"), FORMS, ids=[form[0] for form in FORMS])
    def test_what_was_typed_is_there_and_nothing_was_done(
        self, owner: User, ids: dict[str, str], path: str, typed: dict[str, Any], there: list[str]
    ) -> None:
        browser, old = self.in_another_tab(owner)
        before = counts()
        form = {**typed, "csrfmiddlewaretoken": old, "person": owner.pk}
        response = browser.post(BASE + path.format(**ids), form, headers=self.HERE, follow=True)
        assert SAID in words(response)
        page = response.content.decode()
        assert [each for each in there if not re.search(each, page)] == []
        assert counts() == before

    def test_somebody_else_finds_nothing_and_is_told(self, owner: User, outsider: User) -> None:
        browser, old = self.in_another_tab(outsider)
        form = {"name": "Legal", "csrfmiddlewaretoken": old, "person": owner.pk}
        page = browser.post(f"{BASE}loops/new/", form, headers=self.HERE, follow=True)
        assert OLD_PAGE in words(page)
        assert "Legal" not in page.content.decode()

    @pytest.mark.parametrize("path", ["loops/{loop_id}/leave/", "settings/notifications/mail/"])
    def test_forms_of_the_portal_lead_back_to_their_page(
        self, member: User, loop: Loop, path: str
    ) -> None:
        browser, old = self.in_another_tab(member)
        form = {"mails": "none", "csrfmiddlewaretoken": old}
        target = "/" + path.format(loop_id=loop.pk)
        page = browser.post(target, form, headers=self.HERE, follow=True)
        assert page.status_code == 200
        assert OLD_PAGE in words(page)
        assert Loop.objects.of_member(member.pk).contains(loop)
        assert not EmailPreference.objects.exists()

    def test_sent_once_more_it_counts(self, owner: User) -> None:
        browser, old = self.in_another_tab(owner)
        form = {"name": "Legal", "icon": "heart", "csrfmiddlewaretoken": old, "person": owner.pk}
        page = browser.post(f"{BASE}loops/new/", form, headers=self.WITHOUT_TLS, follow=True)
        form["csrfmiddlewaretoken"] = attribute(page, 'csrfmiddlewaretoken" value')
        assert "Loop created." in words(browser.post(f"{BASE}loops/new/", form, follow=True))

    @pytest.mark.parametrize(
        "said",
        [
            {"Accept": "text/html"},
            {"Accept": "text/html", "Origin": "https://evil.example"},
            {"Accept": "text/html", "Origin": "null"},
            {"Accept": "text/html", "Sec-Fetch-Site": "cross-site"},
            {"Accept": "text/html", "Sec-Fetch-Site": "same-site"},
            {"Accept": "text/html", "Sec-Fetch-Site": "none", "Origin": "http://testserver"},
            {"Accept": "*/*", "Sec-Fetch-Site": "same-origin"},  # a script's, which knows better
        ],
    )
    @pytest.mark.parametrize("is_signed_in", [True, False])
    def test_no_other_site_plants_a_form(
        self, owner: User, said: dict[str, str], is_signed_in: bool
    ) -> None:
        browser, old = self.in_another_tab(owner)
        if not is_signed_in:
            expire(browser)
        for token in (old, ""):
            form = {"name": "Planted", "csrfmiddlewaretoken": token, "person": owner.pk}
            response = browser.post(f"{BASE}loops/new/", form, headers=said)
            assert response.status_code == 403
            assert "This page has expired" in words(response)
        token = attribute(
            browser.get("/accounts/login/", follow=True), 'csrfmiddlewaretoken" value'
        )
        form = {"login": owner.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
        browser.post("/accounts/login/", form)
        page = browser.get(f"{BASE}loops/new/")
        assert page.status_code == 200
        assert "Planted" not in page.content.decode()

    def test_where_nothing_is_typed_it_is_said(self, owner: User) -> None:
        key, _ = create_api_key(user=owner, name="CI")
        browser, old = self.in_another_tab(owner)
        form = {"state": "inactive", "csrfmiddlewaretoken": old}
        path = f"{BASE}keys/{key.pk}/switch/"
        response = browser.post(path, form, headers=self.HERE, follow=True)
        assert response.redirect_chain[-1][0] == f"{BASE}keys/{key.pk}/"
        assert OLD_PAGE in words(response)
        key.refresh_from_db()
        assert key.state == ApiKey.State.ACTIVE

    def test_secrets_are_not_kept(self, owner: User) -> None:
        browser, old = self.in_another_tab(owner)
        form = {"secret": "a secret of my own", "csrfmiddlewaretoken": old}
        path = f"{BASE}webhook-secret/set/"
        response = browser.post(path, form, headers=self.HERE, follow=True)
        assert OLD_PAGE in words(response)
        assert "a secret of my own" not in response.content.decode() + str(dict(browser.session))

    def test_an_address_is_kept_and_a_button_is_not(self, owner: User) -> None:
        browser, old = self.in_another_tab(owner)
        for button, said in (("action_add", SAID), ("action_send", OLD_PAGE)):
            form = {"email": "ada@example.org", button: "", "csrfmiddlewaretoken": old}
            form["person"] = owner.pk
            response = browser.post("/accounts/email/", form, headers=self.HERE, follow=True)
            assert said in words(response)
        assert EmailAddress.objects.filter(user=owner).count() == 1

    def test_an_answer(self, member: User, make: Make) -> None:
        request = make()
        browser, old = self.in_another_tab(member)
        path = f"/inbox/{request.pk}/"
        form = {"answer": "yes", "csrfmiddlewaretoken": old, "person": member.pk}
        response = browser.post(f"{path}answer/", form, headers=self.HERE, follow=True)
        assert response.redirect_chain[-1][0] == path
        assert "It hasn’t been sent yet." in words(response)
        assert any('value="yes"' in each and "checked" in each for each in controls(response))
        assert services.read_request(request.pk).status == "pending"
        response = browser.post(
            f"{path}claim/", form | {"answer": ""}, headers=self.HERE, follow=True
        )
        assert OLD_PAGE in words(response)
        assert services.read_request(request.pk).status == "pending"


class TestStrangers:
    """Whoever has no account can have a form kept, too."""

    @pytest.mark.parametrize("path", [f"{BASE}loops/new/", f"/inbox/{'0' * 24}/answer/"])
    def test_an_address_has_only_so_many(
        self, db: None, monkeypatch: pytest.MonkeyPatch, path: str
    ) -> None:
        monkeypatch.setattr(form_recovery, "RATE", "2/h")
        for _ in range(4):
            assert Client().post(path, {"name": "x", "answer": "x"}).status_code == 302
        assert Session.objects.count() == 2
        Client(REMOTE_ADDR="192.0.2.9").post(path, {"name": "x", "answer": "x"})
        assert Session.objects.count() == 3

    def test_names_of_fields_count_too(self, db: None) -> None:
        Client().post(f"{BASE}loops/new/", {"x" * form_recovery.MAX_LENGTH: "", "y": ""})
        assert not Session.objects.exists()

    def test_what_they_leave_ends_within_the_hour(self, owner: User) -> None:
        browser = Client()
        browser.post(f"{BASE}loops/new/", {"name": "Legal", "person": owner.pk})
        row = Session.objects.get()
        assert row.expire_date < timezone.now() + timedelta(seconds=form_recovery.MAX_WAIT + 1)
        browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
        assert browser.session.get_expiry_age() > 23 * form_recovery.MAX_WAIT
        assert 'value="Legal"' in browser.get(f"{BASE}loops/new/").content.decode()

    def test_ended_sessions_are_removed(self, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sessions, "BATCH", 2)
        here = signed_in(owner)
        for _ in range(5):
            Client().post(f"{BASE}loops/new/", {"name": "x"})
        ended = Session.objects.exclude(pk=hash_key(here.session.session_key))
        ended.update(expire_date=timezone.now() - timedelta(seconds=1))
        assert forget_sessions() == 5
        assert Session.objects.get().pk == hash_key(here.session.session_key)
