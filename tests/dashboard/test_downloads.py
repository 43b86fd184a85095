"""A download ends with the sign-in of whoever began it, at the next part."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db.models.functions import Now
from django.test import Client

from accounts.models import User
from accounts.sessions import end_sessions
from dashboard import export, your_data
from dashboard.downloads import SignedOut
from reviews import erasing
from reviews.models import ExportLease
from tests.portal import signed_in
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
LIST = "/dashboard/requests/"
DOWNLOADS: dict[str, Callable[[Client], Any]] = {
    "csv": lambda browser: browser.get(f"{LIST}export.csv"),
    "json": lambda browser: browser.get(f"{LIST}export.json"),
    "your data": lambda browser: browser.post("/dashboard/account/data/download/"),
}


def change_password(browser: Client, person: User) -> None:
    person.set_password("another long password 7")
    person.save(update_fields=["password"])


ENDS: dict[str, Callable[[Client, User], Any]] = {
    "sign out": lambda browser, person: browser.logout(),
    "all sessions end": lambda browser, person: end_sessions(person.pk, except_key=None),
    "the session expires": lambda browser, person: Session.objects.update(expire_date=Now()),
    "another password": change_password,
    "deactivated": lambda browser, person: User.objects.filter(pk=person.pk).update(
        is_active=False
    ),
    "erased": lambda browser, person: erasing.begin(person=person, origin=None),
}


@pytest.fixture
def begun(make: Make, owner: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Begins a download of several parts, and reads the first."""
    monkeypatch.setattr(export, "PAGE", 1)
    monkeypatch.setattr(your_data, "PART", 1)
    for _ in range(3):
        make()
    opened = []

    def begin(browser: Client, name: str) -> Iterator[bytes]:
        response = DOWNLOADS[name](browser)
        opened.append(response._iterator)
        parts: Iterator[bytes] = iter(response.streaming_content)
        assert next(parts)
        return parts

    yield begin
    for parts in opened:
        parts.close()
    assert not ExportLease.objects.exists()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", DOWNLOADS)
def test_it_ends_at_the_next_part(begun: Any, owner: User, name: str, end: str) -> None:
    browser = signed_in(owner)
    browser.get("/dashboard/account/sessions/")  # lists this one
    parts = begun(browser, name)
    assert next(parts)
    ENDS[end](browser, owner)
    with pytest.raises(SignedOut):
        next(parts)


@pytest.mark.parametrize("name", DOWNLOADS)
def test_other_browsers_end_nothing(begun: Any, owner: User, name: str) -> None:
    browser, other = signed_in(owner), signed_in(owner)
    parts = begun(browser, name)
    other.logout()
    end_sessions(owner.pk, except_key=browser.session.session_key)
    assert b"".join(parts).strip()
