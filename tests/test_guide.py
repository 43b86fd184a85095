"""docs/api.md: its commands, run one after another as a reader would run them."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews.models import Request
from reviews.services import answer_request, create_request
from tests.conftest import key_of
from tests.reviews.approvals import decide, turn_into_approval
from tests.reviews.conftest import FIELDS, acting

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "api.md"
TOOLS = ("bash", "curl", "jq")

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"
)


def blocks() -> list[str]:
    """The commands of the guide, block by block."""
    return re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)


class Shell:
    """A shell that keeps its variables and functions from one block to the next."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        self.state = "".join(f"{name}='{value}'\n" for name, value in variables.items())

    def run(self, block: str) -> list[Any]:
        """Runs the block; returns the JSON values that it printed."""
        saved = self.folder / "state"
        script = (
            f"set -euo pipefail\n{self.state}{block}\n"
            f"{{ declare -f; for v in URL KEY LOOP MEMBER REQUEST; do "
            f'declare -p "$v" 2>/dev/null || true; done; }} > {saved}\n'
        )
        done = subprocess.run(
            ["bash", "-c", script], capture_output=True, encoding="utf-8", timeout=60
        )
        assert done.returncode == 0, (block, done.stderr)
        self.state = saved.read_text(encoding="utf-8")
        return list(values(done.stdout))


def values(printed: str) -> Iterator[Any]:
    """The JSON values among what was printed; other lines are skipped."""
    while (start := printed.find('{"error"')) >= 0:
        value, end = json.JSONDecoder().raw_decode(printed, start)
        yield value
        printed = printed[end:]


def test_every_variable_is_assigned_before_it_is_used() -> None:
    assigned: set[str] = set()
    for block in blocks():
        for line in block.splitlines():
            assert set(re.findall(r"\$([A-Z]+)", line)) <= assigned, line
            assigned |= set(re.findall(r"^([A-Z]+)=", line))
        assert "alias" not in block


def test_its_commands_work(
    live_server: LiveServer, owner: User, member: User, tmp_path: Path
) -> None:
    first, *others = blocks()
    shell = Shell(tmp_path)
    shell.run(
        first.replace("http://127.0.0.1:8000", live_server.url).replace("rl_live_…", key_of(owner))
    )
    seen = 0
    for block in others:
        if "$MEMBER" in block:
            join_loop(user=member, code=Loop.objects.exclude(name="Orders").get().invite_code)
        if "/feedback" in block:
            shell.state += f"REQUEST={answered(owner)}\n"
        if "/receipt" in block:
            shell.state += f"REQUEST={approved(owner, member)}\n"
        for response in shell.run(block):
            assert response["error"] is False, (block, response)
            seen += 1
    assert seen >= 8


def answered(owner: User) -> str:
    """The id of a request that somebody has answered: the guide cancels its own."""
    made = asked(owner)
    answer_request(request=made, reviewer_id=owner.pk, answer="yes")
    return str(made.pk)


def asked(owner: User) -> Request:
    return create_request(
        loop_id=Loop.objects.exclude(name="Orders").get().pk,
        account=acting(owner),
        fields={**FIELDS},
    )


def approved(owner: User, member: User) -> str:
    """The id of an approval of the arguments that the guide redeems."""
    request_id = str(asked(owner).pk)
    turn_into_approval(request_id)
    decide(request_id, member, arguments={"amount": 80, "order": "1042"})
    return request_id
