"""/docs in a real browser, under the policy that every page has."""

from playwright.sync_api import Browser, expect

from tests.browser.contexts import opened


def test_the_api_page_shows_every_operation_and_asks_no_other_host(
    chromium: Browser, site: str
) -> None:
    with opened(chromium, site, size="desk") as context:
        page = context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))

        response = page.goto("/docs")
        assert response
        assert "default-src 'self'" in response.headers["content-security-policy"]
        assert "unsafe" not in response.headers["content-security-policy"]
        expect(page.locator(".opblock")).to_have_count(30 + 5)  # operations and events
        page.locator("#operations-Requests-createRequest .opblock-summary-control").click()
        operation = page.locator("#operations-Requests-createRequest")
        expect(operation).to_contain_text("Request created and broadcasted successfully")

        assert all(url.startswith((site, "data:")) for url in asked), asked
        assert complaints == []


def test_a_call_can_be_tried(chromium: Browser, site: str) -> None:
    with opened(chromium, site, size="desk") as context:
        page = context.new_page()
        page.goto("/docs")
        page.get_by_role("button", name="Authorize").first.click()
        key = page.locator("form", has_text="An API key")
        key.get_by_label("Value").fill("rl_live_nonsense")
        key.get_by_role("button", name="Apply credentials").click()
        key.get_by_role("button", name="Close").click()

        page.locator("#operations-Key-checkKey .opblock-summary-control").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()

        answer = page.locator("#operations-Key-checkKey .live-responses-table")
        expect(answer).to_contain_text("401")
        expect(answer).to_contain_text("Invalid API key")
