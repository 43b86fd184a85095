"""From sign-up to the first own answer, with the clicks counted."""

from typing import Any

from playwright.sync_api import expect

from reviews.models import Request
from tests.browser.test_code_by_mail import code_in_the_mail, type_code
from tests.browser.visitor import Visitor

MAX_CLICKS = 10


class Clicks:
    """A visitor whose clicks are counted."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor, self.count = visitor, 0

    def go(self, role: Any, name: str) -> None:
        self.count += 1
        self.visitor.go(self.visitor.page.get_by_role("main").get_by_role(role, name=name))

    def choose(self, label: str) -> None:
        self.count += 1
        self.visitor.page.locator(".choice", has_text=label).click()

    def send(self) -> None:
        self.count += 1
        self.visitor.send()


def test_the_first_answer_takes_few_clicks(visitor: Visitor, site: str) -> None:
    visitor.open(f"{site}/accounts/signup/")
    page = visitor.page
    page.get_by_label("Your name").fill("Nora New")
    page.get_by_label("Email").fill("nora@example.org")
    page.get_by_label("Password").fill("a rather long password")
    visitor.press("Sign up")
    type_code(visitor, code_in_the_mail())
    visitor.reads("What would you like to do?")
    clicks = Clicks(visitor)
    clicks.go("link", "I want to ask people")
    clicks.go("button", "Create loop")
    clicks.go("button", "Send sample question")
    clicks.go("link", "Answer here")
    clicks.choose("Refund")
    clicks.send()
    visitor.reads("Answer sent")
    assert Request.objects.get().response_data == "Refund"
    assert clicks.count <= MAX_CLICKS
    clicks.go("link", "Go to dashboard")
    clicks.go("link", "Create API key")
    expect(page.get_by_label("Name")).to_be_visible()
