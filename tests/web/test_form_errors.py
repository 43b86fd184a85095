"""What every form says about its errors: the page's title, the focus, and a list if there are
several. Browsers give the focus by themselves, so nothing of this needs a script."""

import html
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews import services
from tests.conftest import key_of
from tests.portal import signed_in
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db

NEW_REQUEST = "/dashboard/requests/new/"
SENT = {"csrfmiddlewaretoken": "x"}  # as browsers do: without any field a form was not sent
# Forms as they are sent by mistake, and how many errors they have.
STRANGERS: list[tuple[str, dict[str, str], int]] = [
    ("/accounts/login/", {}, 2),
    ("/accounts/login/", {"login": "owner@example.com", "password": "wrong"}, 1),
    ("/accounts/signup/", {}, 3),
    ("/accounts/signup/", {"name": "Nora", "email": "nora@example.org"}, 1),
    ("/accounts/login/code/", {}, 1),
    ("/accounts/signup/code/", {}, 2),
    ("/accounts/password/reset/", {}, 1),
    ("/join/", {}, 1),
]
HOLDERS: list[tuple[str, dict[str, str], int]] = [
    ("/accounts/email/", {"action_add": ""}, 1),
    ("/accounts/password/change/", {}, 3),
    ("/accounts/2fa/totp/activate/", {}, 1),
    ("/dashboard/account/", {}, 2),
    ("/dashboard/loops/new/", {}, 2),
    ("/dashboard/loops/new/", {"name": "Loop", "icon": "nothing"}, 1),
    ("/dashboard/loops/{loop}/edit/", {}, 2),
    ("/dashboard/loops/{loop}/invite/", {}, 1),
    (NEW_REQUEST, {}, 5),
    ("/dashboard/requests/{answered}/feedback/", {"rating": "9", "accuracy": "9"}, 2),
    ("/dashboard/deliveries/test/", {}, 1),
    ("/dashboard/deliveries/resend-dead/", {}, 1),
    ("/dashboard/keys/new/", {}, 2),
]


class Elements(HTMLParser):
    """The attributes of a page's elements, in their order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_errors(response: Any, count: int) -> None:
    page = response.content.decode()
    title = html.unescape(re.findall(r"<title>\s*(.*?)\s*</title>", page, re.DOTALL)[0])
    assert title.startswith("Error: ")
    elements = Elements(page).found
    focused = [(tag, attrs) for tag, attrs in elements if "autofocus" in attrs]
    assert focused, "nothing has the focus"
    # a browser gives the focus to no field if the address has a fragment
    actions = [attrs.get("action") or "" for tag, attrs in elements if tag == "form"]
    assert not [action for action in actions if "#" in action]
    is_list = "error-summary" in (focused[0][1].get("class") or "")
    assert is_list is (count > 1)
    if is_list:
        summary = page[page.index("error-summary") :]
        summary = summary[: summary.index("</ul>")]
        targets = re.findall(r'href="#([^"]+)"', summary)
        assert summary.count("<li>") == count
        assert set(targets) <= {attrs.get("id") for _, attrs in elements}
        assert targets


@pytest.mark.parametrize(("path", "typed", "count"), STRANGERS)
def test_forms_of_strangers(
    client: Any, owner: User, path: str, typed: dict[str, str], count: int
) -> None:
    check_errors(client.post(path, typed | SENT), count)


@pytest.mark.parametrize(("path", "typed", "count"), HOLDERS)
def test_forms_of_account_holders(
    owner: User, loop: Loop, make: Make, path: str, typed: dict[str, str], count: int
) -> None:
    key_of(owner)
    answered = make()
    services.answer_request(request=answered, reviewer_id=owner.pk, answer="yes")
    where = path.format(loop=loop.pk, answered=answered.pk)
    check_errors(signed_in(owner).post(where, typed | SENT), count)


def test_a_filter_and_a_page_without_errors(owner: User) -> None:
    browser = signed_in(owner)
    check_errors(browser.get("/dashboard/requests/?status=lost"), 1)
    for path in ("/dashboard/requests/", NEW_REQUEST, "/accounts/email/"):
        page = browser.get(path).content.decode()
        assert "<title>Error" not in page
        assert "autofocus" not in page
        assert "error-summary" not in page
