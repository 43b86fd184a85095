"""A reviewer has a question open while its next version comes."""

from playwright.sync_api import expect

from accounts.models import User
from tests.browser.looking import accessibility_faults
from tests.browser.test_portal_life import Desk
from tests.browser.test_portal_life import desk as desk
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make
from tests.reviews.test_versions import replace


def test_the_next_version_comes_while_somebody_types(
    desk: Desk, owner: User, member: User, make: Make
) -> None:
    """The page leads to it, and what was typed is offered there, but not filled in."""
    older = make(response_type="text", response_config={}, default_response="x")
    page = desk.open(member, f"/inbox/{older.pk}/")
    page.get_by_role("textbox", name="Your answer").fill("Too much: half of it.")
    newer = replace(older, owner, request_text="Should we refund half of order 4821?")
    note = page.get_by_role("main").get_by_text("There is a newer version of this question.")
    expect(note).to_be_visible()
    unsent = page.get_by_role("region", name="Your unsent answer")
    expect(unsent).to_contain_text("Too much: half of it.")
    assert accessibility_faults(page) == []
    page.get_by_role("region", name="Continue").get_by_role("link").tap()
    page.wait_for_url(f"**/inbox/{newer.pk}/")
    expect(page.get_by_role("heading", name="Version 2 of 2")).to_be_visible()
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value("")
    unsent = page.get_by_role("region", name="Your unsent answer to an earlier version")
    expect(unsent).to_contain_text("Too much: half of it.")
    assert accessibility_faults(page) == []


def test_without_a_draft_nothing_is_offered(
    desk: Desk, owner: User, member: User, make: Make
) -> None:
    newer = replace(make(), owner)
    page = desk.open(member, f"/inbox/{newer.pk}/")
    expect(page.get_by_role("heading", name="Version 2 of 2")).to_be_visible()
    expect(page.locator("[data-draft-kept]")).to_be_hidden()
