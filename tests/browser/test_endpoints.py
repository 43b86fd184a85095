"""The form of a webhook endpoint in a browser, without a script."""

from playwright.sync_api import Browser, expect

from accounts.models import User
from loops.models import Loop
from tests.browser.contexts import opened


def test_loops_are_chosen_only_where_not_all_count(
    chromium: Browser, site: str, owner: User, loop: Loop
) -> None:
    with opened(chromium, site, owner, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/dashboard/webhook-endpoints/new/")
        choices = page.get_by_role("group", name="These loops")
        expect(choices).to_be_hidden()
        page.get_by_text("Only these loops").click()
        expect(choices).to_be_visible()
        choices.get_by_text(loop.name).click()
        page.get_by_text("All loops, also later ones").click()
        expect(choices).to_be_hidden()
