"""The comment beside an answer, with the keyboard: opened, kept as a draft, required, sent."""

from playwright.sync_api import Browser, expect

from accounts.models import User
from loops.models import Loop
from reviews import services
from tests.browser.contexts import opened
from tests.browser.looking import accessibility_faults
from tests.browser.visitor import Visitor
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make


def test_opened_kept_required_and_sent(
    chromium: Browser, site: str, owner: User, loop: Loop, make: Make
) -> None:
    Loop.objects.filter(pk=loop.pk).update(comment_required_for=["no"])
    request = make()
    with opened(chromium, site, owner, size="desk") as context:
        visitor = Visitor(context.new_page())
        page = visitor.page
        visitor.open(f"/inbox/{request.pk}/")
        comment = page.get_by_label("Comment", exact=True)
        expect(comment).to_be_hidden()
        page.keyboard.press("c")
        expect(comment).to_be_focused()
        expect(comment).to_have_value("")
        page.keyboard.type("c1 Torn")
        expect(page.locator("[name=answer]:checked")).to_have_count(0)
        expect(page.locator("[data-comment] [data-counter]")).to_have_text("7 of 2,000")
        page.reload()
        expect(comment).to_have_value("c1 Torn")
        expect(comment).to_be_visible()
        comment.fill("")
        page.reload()
        expect(comment).to_be_hidden()
        page.get_by_text("no", exact=True).first.click()
        expect(comment).to_be_visible()
        expect(comment).to_have_attribute("aria-required", "true")
        visitor.send()
        expect(page.get_by_text("Add a comment. It’s required for “no”")).to_be_visible()
        assert accessibility_faults(page) == []
        comment.fill("The seal")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
        expect(page.get_by_text("The seal")).to_be_visible()
    assert services.read_request(request.pk).response_comment == "The seal"
