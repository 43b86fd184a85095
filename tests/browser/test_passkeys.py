"""Passkeys, with the virtual authenticator of Chromium."""

from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from playwright.sync_api import Browser, CDPSession, Page, expect

from accounts.models import User
from tests.browser.contexts import opened
from tests.browser.visitor import Visitor
from tests.conftest import PASSWORD

OPTIONS = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Phone:
    """A visitor whose device keeps passkeys."""

    def __init__(self, page: Page) -> None:
        self.visitor, self.page = Visitor(page), page
        self.cdp: CDPSession = page.context.new_cdp_session(page)
        self.cdp.send("WebAuthn.enable")
        added = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": OPTIONS})
        self.device = added["authenticatorId"]

    def verify(self, succeeds: bool) -> None:
        """Whether the fingerprint is the right one."""
        known = {"authenticatorId": self.device, "isUserVerified": succeeds}
        self.cdp.send("WebAuthn.setUserVerified", known)

    def lose_passkeys(self) -> None:
        self.cdp.send("WebAuthn.clearCredentials", {"authenticatorId": self.device})

    def sign_out(self) -> None:
        self.page.context.clear_cookies()

    def add_passkey(self, name: str = "My phone") -> None:
        self.visitor.open("/accounts/2fa/")
        self.visitor.follow("Add a passkey")
        self.page.get_by_label("Name").fill(name)
        self.visitor.press("Create passkey")

    def type_password(self, owner: User) -> None:
        self.visitor.open("/accounts/login/")
        self.page.get_by_label("Email").fill(owner.email)
        self.page.get_by_label("Password").fill(PASSWORD)
        with self.page.expect_navigation(wait_until="load"):
            self.page.get_by_role("button", name="Sign in", exact=True).click()


@pytest.fixture(params=[320, 1280])
def phone(
    request: pytest.FixtureRequest, chromium: Browser, site: str, owner: User
) -> Iterator[Phone]:
    """The owner's, signed in."""
    size = {"width": request.param, "height": 800}
    with opened(chromium, site, owner, viewport=size) as context:
        yield Phone(context.new_page())


def test_a_passkey_replaces_password_and_code(phone: Phone, owner: User) -> None:
    phone.add_passkey()
    phone.visitor.reads("Recovery codes")
    phone.visitor.open("/accounts/2fa/")
    phone.visitor.reads("My phone")
    told = [each.subject for each in mail.outbox]
    assert "Review Loop: A passkey was added to your account" in told
    phone.sign_out()
    phone.visitor.open("/accounts/login/?next=/dashboard/keys/")
    phone.page.get_by_label("Keep me signed in").check()
    phone.visitor.press("Use a passkey")
    expect(phone.page).to_have_url(f"{phone.page.url.partition('/dashboard')[0]}/dashboard/keys/")
    (session,) = [each for each in phone.page.context.cookies() if each["name"] == "sessionid"]
    assert session["expires"] > 0


def test_it_is_the_second_step_after_a_password(phone: Phone, owner: User) -> None:
    phone.add_passkey()
    phone.sign_out()
    phone.type_password(owner)
    phone.visitor.reads("Enter the code from your authenticator app")
    phone.visitor.press("Use a passkey")
    expect(phone.page.get_by_role("heading", level=1)).to_contain_text("Inbox")


def test_a_wrong_finger_opens_nothing(phone: Phone, owner: User) -> None:
    phone.add_passkey()
    phone.sign_out()
    phone.verify(False)
    phone.visitor.open("/accounts/login/")
    phone.page.get_by_role("button", name="Use a passkey").click()
    expect(phone.page.get_by_role("alert")).to_contain_text("No passkey was used.")
    phone.visitor.look()
    phone.verify(True)
    phone.visitor.press("Use a passkey")
    expect(phone.page.get_by_role("heading", level=1)).to_contain_text("Inbox")


def test_a_double_tap_asks_once(phone: Phone, owner: User) -> None:
    phone.add_passkey()
    phone.sign_out()
    phone.visitor.open("/accounts/login/")
    sent = []
    phone.page.on("request", lambda request: sent.append(request.method))
    phone.page.get_by_role("button", name="Use a passkey").dblclick()
    expect(phone.page.get_by_role("heading", level=1)).to_contain_text("Inbox")
    assert sent.count("POST") == 1


def test_a_removed_passkey_opens_nothing(phone: Phone, owner: User) -> None:
    phone.add_passkey()
    phone.visitor.open("/accounts/2fa/")
    phone.visitor.follow("My phone")
    phone.page.get_by_label("Name").fill("Old phone")
    phone.visitor.press("Save")
    phone.visitor.follow("Old phone")
    phone.visitor.follow("Remove")
    phone.visitor.press("Remove")
    phone.visitor.reads("Passkey removed.")
    assert not Authenticator.objects.exists()
    phone.sign_out()
    phone.visitor.open("/accounts/login/")
    phone.visitor.press("Use a passkey")
    phone.visitor.reads("This passkey was not accepted.")


def test_it_confirms_who_it_is(phone: Phone, owner: User) -> None:
    phone.add_passkey()
    User.objects.filter(pk=owner.pk).update(password="!none")
    phone.sign_out()
    phone.visitor.open("/accounts/login/")
    phone.visitor.press("Use a passkey")
    phone.visitor.open("/accounts/2fa/webauthn/reauthenticate/?next=/dashboard/keys/")
    phone.visitor.press("Use a passkey")
    expect(phone.page.get_by_role("heading", level=1)).to_contain_text("API keys")


def test_without_scripts_nothing_is_offered_that_cannot_work(
    chromium: Browser, site: str, owner: User
) -> None:
    with opened(chromium, site, owner, java_script_enabled=False) as context:
        visitor = Visitor(context.new_page())
        visitor.open("/accounts/2fa/webauthn/add/")
        visitor.reads("Your browser can’t create passkeys")
        context.clear_cookies()
        visitor.open("/accounts/login/")
        expect(visitor.page.get_by_role("button", name="Use a passkey")).to_have_count(0)
