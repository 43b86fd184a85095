"""An agent with the official Python client asks, dies, and gets the answer in its next life."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.browser.contexts import opened
from tests.browser.visitor import Visitor
from tests.conftest import key_of
from tests.waiting import stretched

AGENT = Path(__file__).parents[1] / "api" / "mcp" / "agent.py"


def begin(site: str, key: str, loop: Loop) -> "subprocess.Popen[str]":
    """The agent, which knows nothing but its key and the name of its question."""
    own = {"SITE": site, "KEY": key, "LOOP": loop.pk, "NAME": "deploy 7", "MODE": "auto"}
    return subprocess.Popen(
        [sys.executable, str(AGENT)],
        env={**os.environ, **own, "TASKS": "yes"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def read(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """The next line that it prints."""
    assert process.stdout
    line = process.stdout.readline()
    found: dict[str, Any] = json.loads(line or "{}")
    assert found, process.communicate()[1]
    return found


def test_an_agent_dies_and_gets_its_answer(
    chromium: Browser, site: str, owner: User, member: User, loop: Loop
) -> None:
    key = key_of(owner, hourly_limit=10_000)
    first = begin(site, key, loop)
    assert "ask_human" in read(first)["tools"]
    task_id = read(first)["task"]
    first.send_signal(signal.SIGKILL)
    first.communicate()

    with opened(chromium, site, member, has_touch=True) as context:
        visitor = Visitor(context.new_page())
        visitor.open("/inbox/")
        visitor.follow("Deploy version 7 now?")
        visitor.page.get_by_text("yes", exact=True).tap()
        visitor.send()
        expect(visitor.page.get_by_role("heading", name="Answer sent")).to_be_visible()

    second = begin(site, key, loop)
    printed, complaints = second.communicate(timeout=stretched(30))
    assert second.returncode == 0, complaints
    answer = json.loads(printed.splitlines()[-1])["answer"]
    assert answer["request_id"] == task_id
    assert (answer["response_data"], answer["answered_by"]) == ("yes", "human")
    assert Request.objects.get().pk == task_id  # one request exists

    with opened(chromium, site, owner) as context:
        visitor = Visitor(context.new_page())
        visitor.open(f"/dashboard/requests/{task_id}/")
        visitor.reads("Asked through MCP (mcp ")
