"""The example, run as a stranger would run it, while a member answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews.models import Request
from reviews.services import answer_request
from tests.conftest import key_of
from tests.waiting import wait_until

ASK = Path(__file__).resolve().parent.parent / "examples" / "ask.py"


def start(site: str, key: str, *words: str) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "REVIEW_LOOP_URL": f"{site}/v1",
        "REVIEW_LOOP_KEY": key,
    }
    return subprocess.Popen(
        [sys.executable, ASK, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def finish(example: subprocess.Popen[str]) -> tuple[str, str]:
    """What it printed, once it has ended."""
    try:
        return example.communicate(timeout=30)
    finally:
        example.kill()


def test_ask_prints_the_answer(live_server: LiveServer, owner: User, member: User) -> None:
    example = start(live_server.url, key_of(owner), "Refund", "80 €?")
    wait_until(Request.objects.exists)
    request = Request.objects.get()
    loop = Loop.objects.get()
    join_loop(user=member, code=loop.invite_code)
    answer_request(request=request, reviewer_id=member.pk, answer="yes")

    printed, complaints = finish(example)
    assert complaints == ""
    assert printed.splitlines() == [
        f"Who should answer joins at {loop.join_url}",
        "Asked: Refund 80 €?",
        "completed: yes",
    ]


def test_ask_asks_the_loop_that_it_made(live_server: LiveServer, owner: User) -> None:
    key = key_of(owner)
    for count in (1, 2):
        example = start(live_server.url, key)
        wait_until(lambda count=count: Request.objects.count() == count)  # type: ignore[misc]
        request = Request.objects.latest("created_at")
        answer_request(request=request, reviewer_id=owner.pk, answer="no")
        printed, _ = finish(example)
        assert printed.splitlines()[-2:] == ["Asked: Shall we ship it today?", "completed: no"]
    assert Loop.objects.count() == 1


def test_ask_waits_where_the_quota_is_used_up(live_server: LiveServer, owner: User) -> None:
    example = start(live_server.url, key_of(owner, hourly_limit=1))
    with pytest.raises(subprocess.TimeoutExpired):
        example.communicate(timeout=2)
    example.kill()
    assert example.communicate()[1] == ""


def test_ask_says_what_is_wrong(live_server: LiveServer) -> None:
    example = start(live_server.url, "rl_live_nonsense")
    printed, complaints = finish(example)
    assert (printed, complaints, example.returncode) == ("", "Invalid API key {}\n", 1)
