"""Loops in a browser: made, shared, filled with people, deleted; on a phone, at a desk, and
without scripts."""

from playwright.sync_api import expect

from accounts.models import User
from loops.models import Loop
from tests.browser.dashboard import enter
from tests.browser.visitor import Visitor
from tests.portal import signed_in

LIST = "/dashboard/loops/"


def test_a_loop_from_its_making_to_its_end(anyone: Visitor, owner: User) -> None:
    enter(anyone, owner, LIST)
    anyone.reads("Create your first loop")
    anyone.page.locator("label", has_text="Python").click()
    anyone.reads("requests.post(")
    anyone.follow("New loop")
    anyone.press("Create loop")
    anyone.reads("Give the loop a name")
    anyone.page.get_by_label("Name").fill("Refund desk")
    anyone.page.get_by_label("Description").fill("Who gets money back?")
    anyone.page.get_by_title("Heart").click()
    anyone.press("Create loop")
    anyone.reads("Loop created.")
    loop = Loop.objects.get()
    assert (loop.icon, loop.description) == ("heart", "Who gets money back?")

    anyone.follow("Edit")
    anyone.page.get_by_label("Name").fill("Refunds")
    anyone.press("Save")
    anyone.reads("Saved.")
    anyone.follow("Edit")
    anyone.page.get_by_text("Delete this loop").click()
    anyone.page.get_by_label("Type “Refunds” to confirm").fill("Refunds")
    anyone.press("Delete loop")
    anyone.reads("Refunds was deleted")
    anyone.reads("Create your first loop")


def test_people_are_invited_and_let_go(
    anyone: Visitor, owner: User, loop: Loop, mailoutbox: list[object]
) -> None:
    enter(anyone, owner, f"{LIST}{loop.pk}/")
    page = anyone.page
    page.get_by_label("Email address").fill("nobody")
    anyone.press("Invite")
    anyone.reads("Enter a full email address")
    assert page.get_by_label("Email address").input_value() == "nobody"
    page.get_by_label("Email address").fill("ada@example.org")
    anyone.press("Invite")
    anyone.reads("Invitation sent to ada@example.org.")
    anyone.press("Send again to ada@example.org")
    assert len(mailoutbox) == 2
    page.get_by_role("button", name="Withdraw ada@example.org").click()
    anyone.go(page.get_by_role("button", name="Withdraw", exact=True))
    anyone.reads("Member removed.")
    expect(page.get_by_role("row").filter(has_text="ada@example.org")).to_have_count(0)


def test_sharing(anyone: Visitor, owner: User, loop: Loop) -> None:
    enter(anyone, owner, f"{LIST}{loop.pk}/")
    anyone.reads(loop.join_url)
    picture = anyone.page.get_by_alt_text("QR code of the join link")
    assert picture.evaluate("each => each.complete && each.naturalWidth") > 100
    anyone.follow("Printable sheet")
    anyone.reads(loop.spaced_code)
    anyone.follow("Back to the loop")
    anyone.page.get_by_text("Replace code").click()
    anyone.press("Replace both")
    anyone.reads("The loop has a new code and link.")
    loop.refresh_from_db()
    anyone.reads(loop.spaced_code)


def test_a_page_that_went_stale(anyone: Visitor, owner: User, loop: Loop) -> None:
    enter(anyone, owner, f"{LIST}{loop.pk}/edit/")
    signed_in(owner).post(f"{LIST}{loop.pk}/delete/", {"typed": loop.name})
    anyone.press("Save")
    anyone.reads("The loop Refund desk was deleted.")


def test_an_expired_session_leads_back(anyone: Visitor, owner: User, loop: Loop) -> None:
    enter(anyone, owner, f"{LIST}{loop.pk}/")
    anyone.page.context.clear_cookies(name="sessionid")
    anyone.page.get_by_label("Email address").fill("ada@example.org")
    anyone.go(anyone.page.get_by_role("button", name="Invite"))
    assert "/accounts/login/" in anyone.page.url
    anyone.page.get_by_label("Email").fill(owner.email)
    anyone.page.get_by_label("Password").fill("correct horse battery")
    anyone.press("Sign in")
    anyone.reads("What you typed is still here")
    expect(anyone.page.get_by_label("Email address")).to_have_value("ada@example.org")
    anyone.press("Invite")
    anyone.reads("Invitation sent to ada@example.org")
