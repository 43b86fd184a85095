"""What the tests of the interface share besides the cast."""

import time
from typing import Any

import pytest

from accounts.models import User
from accounts.services import create_api_key
from loops.models import Loop
from tests.api.bodies import question
from tests.api.wire import Api, Ask, granted

ALL = ["loops:read", "loops:write", "requests:read", "requests:write"]


@pytest.fixture
def plenty(owner: User) -> str:
    """A key of the owner that no test exhausts."""
    return create_api_key(user=owner, name="plenty", permissions=ALL, hourly_limit=100_000)[1]


@pytest.fixture
def ask(api: Api, plenty: str, loop: Loop) -> Ask:
    """A function that sends the usual question with changes, and returns the request's id."""

    def send_question(**changes: Any) -> str:
        response = api(plenty).post(f"/v1/api/loops/{loop.pk}/requests", question(**changes))
        data = granted(response, "Request created and broadcasted successfully", status=201)
        return str(data["request_id"])

    return send_question


@pytest.fixture
def steady_hour() -> None:
    """The hour does not end during the test: within its last 20 seconds the test waits it out."""
    left = 3600 - time.time() % 3600
    if left < 20:
        time.sleep(left + 0.1)
