"""Every page on a phone, with the longest words that there can be."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from accounts.models import User
from accounts.services import create_account
from loops.models import Loop
from loops.services import create_loop
from reviews import services
from tests.browser.contexts import opened
from tests.browser.visitor import Visitor
from tests.conftest import PASSWORD
from tests.reviews.conftest import FIELDS, acting

LONG = "W" * 100
OPTIONS = {"options": [LONG, LONG[1:]]}
SHAPES: dict[str, tuple[dict[str, Any], Any]] = {
    "text": ({"placeholder": LONG}, LONG),
    "single_select": (OPTIONS, LONG),
    "multi_select": (OPTIONS, [LONG]),
    "rating": ({"scale_max": 1_000_000, "scale_min": 999_990}, 999_990),
    "number": ({"max_value": 1e300}, 1e300),
}


@pytest.fixture
def visitor(chromium: Browser, site: str) -> Any:
    with opened(chromium, site) as context:
        yield Visitor(context.new_page())


@pytest.fixture
def wordy(transactional_db: None) -> User:
    return create_account(email="w" * 60 + "@example.com", name=LONG, password=PASSWORD)


@pytest.fixture
def loop(wordy: User) -> Loop:
    rule = [LONG, LONG[1:]]
    return create_loop(
        owner_id=wordy.pk, name=LONG, description=LONG * 5, icon="x", comment_required_for=rule
    )


def ask(loop: Loop, owner: User, response_type: str) -> str:
    """A question of nothing but long words; returns its path."""
    config, default = SHAPES[response_type]
    context: dict[str, Any] = {LONG: {LONG: [LONG, {LONG: LONG}]}}
    for _ in range(20):
        context = {"deeper": context}
    fields = {
        **FIELDS,
        "request_text": LONG * 10,
        "context": context,
        "response_type": response_type,
        "response_config": config,
        "default_response": default,
    }
    made = services.create_request(loop_id=loop.pk, account=acting(owner), fields=fields)
    return f"/inbox/{made.pk}/"


def sign_in(page: Page, user: User) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/inbox/")


def test_pages_for_strangers(visitor: Visitor, loop: Loop) -> None:
    for path in ("/", "/join/", f"/join/{loop.invite_code}", "/join/x", "/nothing"):
        visitor.open(path)
    for path in ("login/", "signup/", "password/reset/", "password/reset/done/", "inactive/"):
        visitor.open(f"/accounts/{path}")
    visitor.open("/accounts/signup/")
    visitor.press("Sign up")
    visitor.reads("Enter your name")


def test_pages_for_members(visitor: Visitor, wordy: User, loop: Loop) -> None:
    sign_in(visitor.page, wordy)
    visitor.look()
    for path in ("/join/", f"/join/{loop.invite_code}", "/accounts/email/", "/accounts/logout/"):
        visitor.open(path)
    visitor.open("/accounts/password/change/")
    questions = {kind: ask(loop, wordy, kind) for kind in SHAPES}
    visitor.open("/inbox/")
    for path in questions.values():
        visitor.open(path)
        visitor.page.locator("main .context > summary").click()
        visitor.look()
        visitor.send()
        visitor.page.get_by_role("button", name="I’m on it").click()
        visitor.reads("You’re on it")
        visitor.look()
    visitor.open(questions["text"])
    visitor.page.get_by_role("textbox", name="Your answer").fill(LONG * 3)
    visitor.send()
    visitor.open(questions["text"])
    visitor.reads("You answered this question")
    for path in ("/my-work/", "/loops/"):
        visitor.open(path)
