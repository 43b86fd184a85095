"""Agents whose official Python client is of its first major version."""

from pathlib import Path

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.api.mcp.test_clients import HERE, lines_of
from tests.api.mcp.test_tools import NAMES
from tests.examples.conftest import NOT_INSTALLED, PYTHON

PACKAGES = PYTHON.parents[1] / "mcp-1"  # where it does not hide the second version
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not PACKAGES.exists(), reason=NOT_INSTALLED),
]


def test_it_asks_and_is_answered(
    service: str, owner_key: str, loop: Loop, member: User, tmp_path: Path
) -> None:
    environment = {"SITE": service, "KEY": owner_key, "LOOP": loop.pk, "NAME": "one"}
    command = [str(PYTHON), str(HERE / "agent_v1.py")]
    lines = lines_of(command, member, tmp_path, PYTHONPATH=str(PACKAGES), **environment)
    assert lines[0] == {"version": "2025-11-25", "tools": NAMES}
    assert (lines[1]["answer"]["response_data"], lines[1]["error"]) == ("yes", False)
    assert Request.objects.get().asked_through == "MCP"
