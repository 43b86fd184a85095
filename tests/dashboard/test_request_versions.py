"""A new request that replaces the one that it was filled from."""

import json
import re

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from tests.dashboard.test_new_request import NEW, command, fields
from tests.portal import signed_in, words
from tests.reviews.conftest import Make
from tests.reviews.test_versions import replace

pytestmark = pytest.mark.django_db

OFFERED = "This is the next version of that request"


def error_at(html: str, field: str) -> str:
    """What is said to be wrong with a field."""
    (error,) = re.findall(rf'id="id_{field}_error">(.*?)</ul>', html, re.DOTALL)
    return str(error)


def test_the_original_is_replaced(owner: User, loop: Loop, make: Make) -> None:
    older, browser = make(), signed_in(owner)
    page = browser.get(f"{NEW}?from={older.pk}")
    assert OFFERED in words(page)
    assert f'action="{NEW}?from={older.pk}"' in page.content.decode()
    data = fields(loop, replaces="on")
    sent = json.loads(command(browser.post(f"{NEW}curl/?from={older.pk}", data))[-1])
    assert sent["replaces"] == older.pk
    done = browser.post(f"{NEW}?from={older.pk}", data)
    newer = Request.objects.exclude(pk=older.pk).get()
    assert done["Location"] == f"/dashboard/requests/{newer.pk}/"
    assert newer.replaces_id == older.pk
    older = services.read_request(older.pk)
    assert (older.status, older.superseded_by_id) == ("cancelled", newer.pk)


def test_only_if_that_is_wanted(owner: User, loop: Loop, make: Make) -> None:
    older = make()
    signed_in(owner).post(f"{NEW}?from={older.pk}", fields(loop))
    assert services.read_request(older.pk).status == "pending"
    assert Request.objects.exclude(pk=older.pk).get().replaces_id is None


def test_a_new_request_has_nothing_to_replace(owner: User, loop: Loop) -> None:
    browser = signed_in(owner)
    assert OFFERED not in words(browser.get(NEW))
    browser.post(NEW, fields(loop, replaces="on"))
    assert Request.objects.get().replaces_id is None


def test_it_was_replaced_before(owner: User, loop: Loop, make: Make) -> None:
    older = make()
    newer = replace(older, owner)
    response = signed_in(owner).post(
        f"{NEW}?from={older.pk}", fields(loop, replaces="on", request_text="Kept?")
    )
    assert response.status_code == 422
    html = response.content.decode()
    sentence = f"the request in replaces was already replaced by {newer.pk}"
    assert sentence in error_at(html, "replaces")
    assert "Kept?" in html
    assert re.search(r'<input[^>]*name="replaces"[^>]* checked', html)


def test_of_another_loop_or_account(owner: User, outsider: User, make: Make) -> None:
    older = make()
    for person, sentence in (
        (owner, "replaces must be a request of the same loop"),
        (outsider, "replaces must be a request that your account created"),
    ):
        other = create_loop(owner_id=person.pk, name="Other", icon="x")
        response = signed_in(person).post(f"{NEW}?from={older.pk}", fields(other, replaces="on"))
        assert response.status_code == 422
        assert sentence in error_at(response.content.decode(), "replaces")
    assert services.read_request(older.pk).status == "pending"


def test_what_is_wrong_is_said_in_german(owner: User, make: Make) -> None:
    older = make()
    other = create_loop(owner_id=owner.pk, name="Other", icon="x")
    browser = signed_in(owner, headers={"accept-language": "de"})
    response = browser.post(f"{NEW}?from={older.pk}", fields(other, replaces="on"))
    assert "replaces muss eine Anfrage desselben Loops sein" in error_at(
        response.content.decode(), "replaces"
    )
