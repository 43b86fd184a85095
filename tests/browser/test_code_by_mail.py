"""From the join link to the inbox without a password, on a phone, with and without JavaScript."""

import re

from django.core import mail
from playwright.sync_api import expect

from accounts.models import User
from loops.models import Loop
from tests.browser.visitor import Visitor


def code_in_the_mail() -> str:
    (code,) = re.findall(r"^\d{6}$", str(mail.outbox[-1].body), re.MULTILINE)
    return str(code)


def type_code(visitor: Visitor, code: str) -> None:
    field = visitor.page.get_by_label("Code")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("inputmode", "numeric")
    field.fill(code)
    visitor.press("Continue")


def test_a_newcomer_with_a_code(visitor: Visitor, loop: Loop) -> None:
    visitor.open(f"/join/{loop.invite_code}")
    visitor.follow("Use an email code instead")
    visitor.page.get_by_label("Your name").fill("Nora New")
    visitor.page.get_by_label("Email").fill("Nora@example.org")
    visitor.press("Email me a code")
    visitor.reads("We sent an email to nora@example.org")
    code = code_in_the_mail()
    type_code(visitor, "000000" if code != "000000" else "111111")
    visitor.reads("Wrong code. Attempts left: 4")
    visitor.press("Send a new code")
    visitor.reads("We sent an email to nora@example.org")
    type_code(visitor, code_in_the_mail())
    visitor.reads("You’re signed in as nora@example.org.")
    visitor.press("Join Refund desk")
    visitor.reads("You’ve joined Refund desk.")


def test_a_known_person_with_a_code(visitor: Visitor, member: User) -> None:
    visitor.open("/inbox/")
    visitor.follow("Use an email code instead")
    visitor.page.get_by_label("Email").fill(member.email)
    visitor.press("Email me a code")
    type_code(visitor, code_in_the_mail())
    expect(visitor.page.get_by_role("heading", level=1)).to_contain_text("Inbox")
