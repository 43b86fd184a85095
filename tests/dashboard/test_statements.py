"""Every page needs at most eight statements, session and user included, with a realistic account
and with one that has ten times as much data."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.services import create_api_key
from loops.services import create_loop, invite_member
from reviews import services
from tests.browser.catalogue import ACCOUNT, DASHBOARD, KEYS, LOOPS, REQUESTS, Stop
from tests.browser.scene import Scene, set_the_scene
from tests.dashboard.many import copies
from tests.portal import confirmed
from tests.webhooks.log import attempted, made
from webhooks.models import Delivery

MAX_STATEMENTS = 8
HEAVIEST = 64_000  # bytes
MORE = [Stop("request-json", "request-json", ("answered",))]
PAGES = [*ACCOUNT, *KEYS, *LOOPS, *REQUESTS, *DASHBOARD, *MORE]


def fill(scene: Scene) -> None:
    """Of everything that pages list, more than one page."""
    for name in ("answered", "text", "critical"):
        copies(services.read_request(scene.ids[name]), 60)
    for number in range(60):
        create_api_key(user=scene.owner, name=f"Key {number}")
        loop = create_loop(owner_id=scene.owner.pk, name=f"Loop {number}", icon="star")
        made(scene.owner, state="dead", subject_id=scene.ids["answered"])
    for number in range(60):
        invite_member(loop=loop, email=f"{number}@example.org")
        attempted(Delivery.objects.get(pk=scene.ids["delivery"]), status_code=500)
    scene.ids["loop"] = loop.pk


def nothing_more(scene: Scene) -> None:
    """As the scene is."""


@pytest.mark.parametrize("more", [nothing_more, fill])
def test_no_page_asks_much_or_weighs_much(db: None, more: Callable[[Scene], None]) -> None:
    scene = set_the_scene()
    more(scene)
    people = {name: confirmed(user) for name, user in scene.people().items() if user}
    faults = []
    for stop in PAGES:
        browser, path = people[stop.who], stop.path(scene)
        browser.get("/accounts/logout/")  # messages, and a session that is listed
        with CaptureQueriesContext(connection) as asked:
            response = browser.get(path)
        if not stop.leads and response.status_code != stop.status:
            faults.append(f"{path}: {response.status_code}")
        statements = [each["sql"] for each in asked if "SAVEPOINT" not in each["sql"]]  # the test's
        if len(statements) > MAX_STATEMENTS:
            faults.append(f"{path}: {statements}")
        if len(response.content) > HEAVIEST:
            faults.append(f"{path}: {len(response.content)} bytes")
    assert faults == []
