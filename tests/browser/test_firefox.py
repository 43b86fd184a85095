"""The main flows once in Firefox, where it is installed (apt-get install firefox-esr)."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews import services
from tests.browser.firefox import COMMAND, Firefox
from tests.browser.test_code_by_mail import code_in_the_mail
from tests.conftest import PASSWORD
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

TEXT: dict[str, Any] = {
    "response_type": "text",
    "response_config": {"min_length": 5},
    "default_response": "none",
}


@pytest.fixture
def firefox(site: str, tmp_path: Path) -> Iterator[Firefox]:
    """Gone before the site, which waits until nobody is connected."""
    if not shutil.which(COMMAND):
        pytest.skip(f"{COMMAND} is not installed")
    browser = Firefox(tmp_path)
    yield browser
    browser.close()


def test_join_answer_and_look_at_the_dashboard(
    firefox: Firefox, site: str, transactional_db: None, owner: User, loop: Loop, make: Make
) -> None:
    choice, letter = make(priority="critical"), make(priority="low", **TEXT)

    firefox.open(f"{site}/join/{loop.invite_code}")
    firefox.press("Sign up")
    firefox.type_into("id_name", "Rita Reviewer")
    firefox.type_into("id_email", "rita@example.org")
    firefox.type_into("id_password1", PASSWORD)
    firefox.press("Sign up")
    firefox.type_into("id_code", code_in_the_mail())
    firefox.press("Continue")
    firefox.press("Join Refund desk")
    firefox.reads("You’ve joined Refund desk")

    firefox.click("//ul[contains(@class, 'inbox')]//a")
    firefox.click("//label[contains(@class, 'choice')][contains(., 'yes')]")
    firefox.press("Send answer")
    firefox.reads("Sent: yes")
    firefox.type_into("answer", "No")
    firefox.press("Send answer")
    firefox.reads("The answer must have at least 5 characters")
    firefox.type_into("answer", ", thanks")
    firefox.press("Send answer")
    firefox.reads("2 answers sent")
    stored = [services.read_request(each.pk).response_data for each in (choice, letter)]
    assert stored == ["yes", "No, thanks"]

    firefox.open(f"{site}/accounts/logout/")
    firefox.press("Sign out")
    firefox.reads("people decide")
    firefox.open(f"{site}/accounts/login/")
    firefox.type_into("id_login", owner.email)
    firefox.type_into("id_password", PASSWORD)
    firefox.press("Sign in")
    firefox.reads("Inbox")
    firefox.open(f"{site}/dashboard/")
    firefox.reads("Overview")
    firefox.open(f"{site}/dashboard/requests/{choice.pk}/")
    firefox.reads("Rita Reviewer")
    assert firefox.errors(site) == []
