"""An open inbox with more waiting questions than one response lists."""

from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from portal.polling import MAX_ROWS
from reviews import services
from reviews.models import Request
from tests.browser.test_portal_life import Desk
from tests.browser.test_portal_life import desk as desk
from tests.dashboard.many import copies
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make


def rows_of(page: Page) -> list[str]:
    ids: list[str] = page.locator("[data-row]").evaluate_all("rows => rows.map(r => r.dataset.row)")
    return ids


def row_of(page: Page, request_id: str) -> Locator:
    return page.locator(f'[data-row="{request_id}"]')


def answer(request_id: str, who: User) -> None:
    request = services.read_request(request_id)
    services.answer_request(request=request, reviewer_id=who.pk, answer="yes")


def hold(request_id: str, who: User) -> None:
    services.claim_request(request=services.read_request(request_id), reviewer_id=who.pk)


def test_what_is_gone_is_marked_however_much_waits(
    desk: Desk, owner: User, member: User, make: Make
) -> None:
    copies(make(), MAX_ROWS)
    page = desk.open(member, "/inbox/")
    first, second, *_ = rows_of(page)
    answer(first, owner)  # as many are left as are told of
    expect(row_of(page, first)).to_contain_text("Already handled")
    make(priority="critical")
    hold(second, owner)
    expect(row_of(page, second)).to_contain_text("Owner is on it")
    expect(page.get_by_text("Already handled")).to_have_count(1)


def test_rows_that_are_not_told_of_stay_as_they_are(
    desk: Desk, owner: User, member: User, make: Make
) -> None:
    waiting = copies(make(), MAX_ROWS + 9)
    behind = sorted(each.pk for each in waiting)[-1]
    hold(behind, owner)
    page = desk.open(member, "/inbox/?page=3")
    ids = rows_of(page)
    assert ids[-1] == behind
    expect(row_of(page, behind)).to_contain_text("Owner is on it")
    make(priority="critical")
    expect(page.get_by_role("link", name="1 new")).to_be_visible()
    expect(row_of(page, behind)).to_contain_text("Owner is on it")
    expect(page.get_by_text("Already handled")).to_have_count(0)
    # with fewer than are told of, all is known again
    before = Request.objects.exclude(pk__in=ids)
    for each in before.values_list("pk", flat=True)[:12]:
        answer(each, owner)
    answer(ids[0], owner)
    expect(row_of(page, ids[0])).to_contain_text("Already handled")
    expect(row_of(page, behind)).to_contain_text("Owner is on it")
    expect(page.get_by_text("Already handled")).to_have_count(1)
