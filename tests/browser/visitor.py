"""Actions of a visitor with a phone, and the checks of every page."""

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

PASSWORD = "a rather long password"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# WCAG 2.5.8 exempts links inside a sentence; everything else is for thumbs.
TOO_SMALL = """[...document.querySelectorAll(
    'button, .btn, nav a, .tap, summary, .choice, .inbox a, textarea,'
    + 'input:not([type=hidden], [type=radio], [type=checkbox])')]
  .filter(each => each.checkVisibility())
  .filter(each => each.getBoundingClientRect().height < 44 || each.offsetWidth < 24)
  .map(each => each.outerHTML)"""


class Visitor:
    """A person and their phone. `refused` is what the browser complained of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.refused: list[str] = []
        page.on("console", self.listen)

    def listen(self, message: ConsoleMessage) -> None:
        expected = ("the server responded with a status of", "does not conform to the required")
        is_wrong = message.type == "error" and not any(e in message.text for e in expected)
        if is_wrong or "Content Security Policy" in message.text:
            self.refused.append(message.text)

    def look(self) -> None:
        """Nothing is cut off or too small to hit, and the page says what it is."""
        too_wide, too_small = self.page.evaluate(TOO_WIDE), self.page.evaluate(TOO_SMALL)
        assert (too_wide, too_small) == (0, []), self.page.url
        assert self.page.locator("h1").count() == 1, self.page.url
        assert self.refused == [], self.page.url
        assert self.page.title().strip(" ·").endswith("· Review Loop")

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.look()

    def follow(self, name: str) -> None:
        """Taps a link of the page itself."""
        self.go(self.page.get_by_role("main").get_by_role("link", name=name).first)

    def press(self, name: str) -> None:
        self.go(self.page.get_by_role("button", name=name))

    def go(self, target: Locator) -> None:
        """Taps what leads to another page, and waits until that is there with its styles."""
        with self.page.expect_navigation(wait_until="load"):
            target.click()
        self.look()

    def send(self) -> None:
        """Sends the answer, and waits for the page that comes: anew, or in place of this one."""
        self.page.evaluate("document.querySelector('.frame').dataset.old = 'yes'")
        self.page.evaluate("scrollTo(0, document.body.scrollHeight)")  # a long question waits
        self.page.get_by_role("button", name="Send answer").click()
        expect(self.page.locator(".frame[data-old]")).to_have_count(0)
        self.page.wait_for_load_state()
        self.look()

    def sign_up(self, *, name: str, email: str) -> None:
        """From a page with a link to sign up."""
        self.follow("Sign up")
        self.page.get_by_label("Your name").fill(name)
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.press("Sign up")

    def reads(self, text: str) -> None:
        expect(self.page.get_by_role("main")).to_contain_text(text)
