"""Several questions answered at once, on a phone and at a desk without JavaScript."""

from playwright.sync_api import expect

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.looking import accessibility_faults
from tests.browser.test_portal_life import Desk
from tests.browser.test_portal_life import desk as desk
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make
from tests.waiting import wait_until

LONG = "Refund order 4823, whose parcel was sent to Donaudampfschifffahrtselektrizitätenhaupt" * 3


def test_with_a_thumb(desk: Desk, owner: User, member: User, make: Make) -> None:
    first, second, third = (
        make(request_text=text) for text in ("Refund order 4821?", "Refund order 4822?", LONG)
    )
    page = desk.open(member, "/inbox/")
    page.get_by_role("link", name="Answer several").tap()
    page.get_by_text("Select all").tap()
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.get_by_role("checkbox", name="Refund order 4822?").uncheck()
    expect(page.get_by_text("2 selected")).to_be_visible()
    assert accessibility_faults(page) == []
    page.get_by_role("button", name="Continue").tap()
    expect(page.get_by_role("heading", name="One answer to 2 questions")).to_be_visible()
    page.get_by_role("button", name="Send to 2 questions").tap()
    expect(page.get_by_role("alert").filter(has_text="Choose one of the options")).to_be_visible()
    assert accessibility_faults(page) == []
    page.get_by_role("radio", name="yes").check()
    services.answer_request(request=third, reviewer_id=owner.pk, answer="no")
    page.get_by_role("button", name="Send to 2 questions").tap()
    expect(page.get_by_role("heading", name="1 answer sent")).to_be_visible()
    others = page.get_by_role("region", name="Answered by somebody else meanwhile")
    expect(others).to_contain_text("Owner: no")
    assert accessibility_faults(page) == []
    stored = dict(Request.objects.values_list("pk", "response_data"))
    assert stored == {first.pk: "yes", second.pk: None, third.pk: "no"}


def test_with_the_keyboard_and_without_scripts(desk: Desk, member: User, make: Make) -> None:
    made = [make(request_text=f"Refund order {number}?") for number in (4821, 4822)]
    page = desk.open(member, "/inbox/several/", size="desk", java_script_enabled=False)
    expect(page.get_by_text("Select all")).to_be_hidden()
    for each in page.get_by_role("checkbox").all():
        each.focus()
        page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="One answer to 2 questions")).to_be_visible()
    page.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="2 answers sent")).to_be_visible()
    wait_until(lambda: not Request.objects.filter(status="pending").exists())
    assert {each.response_data for each in Request.objects.filter(pk__in=[m.pk for m in made])} == {
        "yes"
    }
