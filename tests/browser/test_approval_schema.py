"""Arguments with fields in a schema are edited like a form, each with the control that fits."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.contexts import opened
from tests.browser.decisions_scene import BOOKING
from tests.browser.looking import accessibility_faults
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

pytestmark = pytest.mark.usefixtures("transactional_db")

FIELDS = {
    name: BOOKING[name]
    for name in ("request_text", "response_type", "response_config", "default_response")
}
ARGUMENTS: dict[str, Any] = BOOKING["response_config"]["proposal"]["arguments"]
EDITED = {
    "carrier": "slow",
    "country": "NL",
    "insured": False,
    "parcels": 4,
    "price": 51.25,
    "on": "2026-12-02",
    "call": "2026-12-02T10:15:00+01:00",
    "extras": ["label", "signature"],
    "email": "ada@example.com",
}


@pytest.fixture
def booking(make: Make, member: User) -> Request:
    User.objects.filter(pk=member.pk).update(time_zone="Europe/Berlin")
    return make(**FIELDS)


@pytest.fixture(params=[True, False], ids=["with-scripts", "without-scripts"])
def page(
    request: pytest.FixtureRequest, chromium: Browser, site: str, member: User, booking: Request
) -> Iterator[Page]:
    scripts = {"java_script_enabled": request.param}
    with opened(chromium, site, member, size="desk", **scripts) as context:
        page = context.new_page()
        page.goto(f"/inbox/{booking.pk}/")
        page.get_by_text("Edit and approve").click()
        yield page


def check_shown(page: Page) -> None:
    """Each argument as it was proposed."""
    expect(page.get_by_label("Swift & Sons")).to_be_checked()
    expect(page.get_by_label("Country")).to_have_value("DE")
    expect(page.get_by_label("Insured")).to_have_value("true")
    expect(page.get_by_label("Parcels")).to_have_value("3")
    expect(page.get_by_label("Price in euros")).to_have_value("48")
    expect(page.get_by_label("Picked up on")).to_have_value("2026-12-01")
    expect(page.get_by_label("Call before")).to_have_value("2026-12-01T09:30")
    expect(page.get_by_label("label", exact=True)).to_be_checked()
    expect(page.get_by_label("box", exact=True)).not_to_be_checked()
    expect(page.get_by_label("Tell")).to_have_value("jane.roe@example.com")


def choose(page: Page, option: str) -> None:
    """Taps the label, which covers its control."""
    page.locator(".choice").get_by_text(option, exact=True).click()


def change_all(page: Page) -> None:
    choose(page, "Donaudampfschifffahrtselektrizitätengesellschaft")
    page.get_by_label("Country").select_option("NL")
    page.get_by_label("Insured").select_option("No")
    page.get_by_label("Parcels").fill("4")
    page.get_by_label("Price in euros").fill("51.25")
    page.get_by_label("Picked up on").fill("2026-12-02")
    page.get_by_label("Call before").fill("2026-12-02T10:15")
    choose(page, "signature")
    page.get_by_label("Tell").fill("ada@example.com")


def check_changes(page: Page) -> None:
    page.get_by_role("button", name="Check changes").filter(visible=True).click()


def test_every_kind_of_field(page: Page, booking: Request) -> None:
    check_shown(page)
    change_all(page)
    check_changes(page)
    expect(page.get_by_role("heading", name="Check your changes")).to_be_visible()
    changes = page.locator("[data-changes]")
    expect(changes.locator("del")).to_have_count(len(ARGUMENTS))
    assert changes.locator("del").all_inner_texts()[3:6] == ["3", "48", "2026-12-01"]
    assert changes.locator("ins").all_inner_texts()[3:6] == ["4", "51.25", "2026-12-02"]
    page.get_by_role("button", name="Approve with changes").click()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
    assert services.read_request(booking.pk).response_data == {
        "action": "edit",
        "edited": [*ARGUMENTS],
        "arguments": EDITED,
    }


def test_what_is_wrong_stands_at_its_field_and_nothing_is_lost(
    page: Page, booking: Request
) -> None:
    change_all(page)
    page.get_by_label("Parcels").fill("21")
    page.get_by_label("Price in euros").fill("much")
    choose(page, "label")
    choose(page, "signature")
    check_changes(page)
    expect(page.get_by_text("Parcels must be at most 20")).to_be_visible()
    expect(page.get_by_text("Enter a number in plain digits")).to_be_visible()
    expect(page.get_by_role("group", name="Extras")).to_contain_text(
        "Extras must have at least 1 option"
    )
    expect(page.get_by_label("Parcels")).to_be_focused()
    expect(page.get_by_label("Parcels")).to_have_value("21")
    expect(page.get_by_label("Price in euros")).to_have_value("much")
    expect(page.get_by_label("Country")).to_have_value("NL")
    expect(page.get_by_label("Picked up on")).to_have_value("2026-12-02")
    assert services.read_request(booking.pk).status != "completed"


def test_nothing_is_wrong_with_the_editor(
    chromium: Browser, site: str, member: User, booking: Request
) -> None:
    with opened(chromium, site, member) as context:
        page = context.new_page()
        page.goto(f"/inbox/{booking.pk}/")
        page.get_by_role("button", name="Edit and approve").click()
        assert accessibility_faults(page) == []
        page.get_by_label("Parcels").fill("21")
        check_changes(page)
        expect(page.get_by_text("Parcels must be at most 20")).to_be_visible()
        assert accessibility_faults(page) == []
