"""The log of deliveries in a browser: on a phone, on a desk, with scripts and without."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, expect

from accounts.models import User
from tests.browser.contexts import SIZES, opened
from tests.browser.visitor import TOO_WIDE, Visitor
from tests.conftest import PASSWORD
from tests.webhooks.conftest import deliver_here
from tests.webhooks.log import LOG, NOW, attempted, made
from tests.webhooks.receivers import Reply, receiving
from webhooks.models import Delivery

LONG = "W" * 3000
HOSTILE = f"</pre><script>document.title = 'mine'</script>\x00\u202eevil {LONG}".encode()


def sign_in(visitor: Visitor, user: User) -> None:
    visitor.open(f"/accounts/login/?next={LOG}")
    visitor.page.get_by_label("Email").fill(user.email)
    visitor.page.get_by_label("Password").fill(PASSWORD)
    visitor.press("Sign in")


def fill(owner: User) -> Delivery:
    """A log of every state, with the longest words; returns the delivery with most attempts."""
    made(owner, "request.completed", state="delivered")
    made(owner, "request.claimed", next_attempt_at=NOW + timedelta(minutes=10))
    made(owner, "request.cancelled", claim_id="x")
    body = f'{{"event":"request.timeout","data":{{"text":"{LONG}","list":[1,2]}}}}'.encode()
    dead = made(owner, "request.timeout", state="dead", url=f"https://x.example/{LONG}", body=body)
    headers = {"Server": "nginx", f"X-{LONG[:300]}": LONG}
    attempted(dead, error=f"ConnectionError: {LONG[:450]}", started_at=NOW - timedelta(minutes=2))
    attempted(
        dead,
        started_at=NOW - timedelta(minutes=1),
        status_code=503,
        request_headers={"webhook-signature": "v1," + LONG[:44]},
        response_headers=headers,
        response_body=HOSTILE,
    )
    attempted(dead, finished_at=None, is_manual=True)
    return dead


def test_from_a_test_event_to_its_delivery(
    transactional_db: None, owner: User, visitor: Visitor
) -> None:
    sign_in(visitor, owner)
    visitor.reads("No deliveries yet")
    visitor.page.get_by_text("Send a test event").click()
    visitor.page.get_by_label("URL").fill("nowhere")
    visitor.press("Send test event")
    visitor.reads("Enter a full URL")
    with receiving(lambda _: Reply(202, {}, HOSTILE)) as receiver:
        visitor.page.get_by_label("URL").fill(receiver.url)
        visitor.press("Send test event")
        visitor.reads("Sending…")
        assert receiver.got == []
        visitor.look()
        assert deliver_here() == 1
        if not visitor.page.evaluate("window.htmx"):
            visitor.follow("Check again")
        visitor.reads("202 Accepted")  # with scripts the page looks by itself
        row = visitor.page.locator("tbody tr")
        expect(row).to_contain_text("Delivered")
        expect(row.locator("[id^=attempts-]")).to_have_text("1")
        expect(row.locator("[id^=last-]")).to_have_text("202 Accepted")
        visitor.reads("document.title = 'mine'</script>\\u0000\\u202eevil")
        visitor.page.reload()
        assert len(receiver.got) == 1
    visitor.follow("View delivery")
    visitor.reads("Attempt 1")
    # a test event is attempted once, whatever happens
    expect(visitor.page.get_by_role("button", name="Send again")).to_have_count(0)


def test_one_delivery_goes_again(transactional_db: None, owner: User, visitor: Visitor) -> None:
    dead = fill(owner)
    sign_in(visitor, owner)
    visitor.open(f"{LOG}{dead.pk}/")
    visitor.press("Send again")
    visitor.reads("Sending it again now")
    visitor.reads("Waiting")


def test_all_that_is_dead_goes_again(transactional_db: None, owner: User, visitor: Visitor) -> None:
    dead = fill(owner)
    sign_in(visitor, owner)
    visitor.page.get_by_label("State").select_option("dead")
    visitor.press("Filter")
    expect(visitor.page.locator("tbody tr")).to_have_count(1)
    visitor.page.get_by_text("Resend dead deliveries").click()
    visitor.press("Resend all")
    visitor.reads("1 delivery is sent again now.")
    dead.refresh_from_db()
    assert dead.state == "waiting"


@pytest.fixture(params=[(size, scheme) for size in SIZES for scheme in ("light", "dark")])
def looker(
    request: pytest.FixtureRequest, chromium: Browser, site: str, transactional_db: None
) -> Iterator[Visitor]:
    """A visitor at either size, by day or by night."""
    size, scheme = request.param
    with opened(chromium, site, size=size, color_scheme=scheme) as context:
        yield Visitor(context.new_page())


def test_nothing_is_cut_off(looker: Visitor, owner: User) -> None:
    dead = fill(owner)
    sign_in(looker, owner)
    looker.follow("request.timeout")
    expect(looker.page.locator("details[open]")).to_have_count(1)
    for fold in looker.page.locator("main summary").all()[1:]:
        fold.click()
    assert looker.page.evaluate(TOO_WIDE) == 0
    assert looker.page.title() == f"Delivery {dead.pk} · Review Loop"
    looker.open(LOG)
    for fold in looker.page.locator("main summary").all():
        fold.click()
    looker.look()
    looker.page.get_by_label("Dead deliveries").fill("")
    looker.press("Resend all")
    looker.reads("Enter a start time")
    looker.open(f"{LOG}?state=lost")
