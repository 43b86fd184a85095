"""End to end: a program asks, a person joins and answers, the program reads (docs/contract.md)."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from accounts.models import User
from tests.browser.test_code_by_mail import code_in_the_mail, type_code
from tests.browser.visitor import Visitor
from tests.conftest import key_of
from tests.waiting import stretched

OPTIONS = [{"value": "full", "label": "Refund in full"}, {"value": "half", "label": "Refund half"}]
QUESTIONS: dict[str, dict[str, Any]] = {
    "text": {
        "priority": "critical",
        "response_config": {"placeholder": "Dear customer …", "min_length": 5},
        "default_response": "We will come back to you.",
    },
    "single_select": {
        "priority": "high",
        "response_config": {"options": OPTIONS},
        "default_response": "half",
        "context": {"order": {"number": 4821, "items": ["cup", "saucer"]}, "vip": True},
    },
    "multi_select": {
        "priority": "high",
        "timeout_seconds": 7200,
        "response_config": {"options": ["red", "green", "blue"], "max_selections": 2},
        "default_response": ["red"],
    },
    "rating": {
        "priority": "medium",
        "response_config": {"scale_max": 5},
        "default_response": 3,
    },
    "number": {
        "priority": "low",
        "response_config": {"max_value": 1000},
        "default_response": 10,
    },
}


class Program:
    """An API client of the owner's."""

    def __init__(self, site: str, key: str) -> None:
        self.site = site
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {key}"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        response = self.session.request(method, self.site + path, json=body, timeout=stretched())
        assert response.ok, response.text
        return response.json()["data"]

    def ask(self, loop_id: str, response_type: str) -> str:
        """Sends the question of this type; returns where to poll."""
        body = {
            "processing_type": "time-sensitive",
            "type": "markdown",
            "request_text": f"A question of type {response_type}: {'long' * 40}?",
            "timeout_seconds": 3600,
            "response_type": response_type,
            "platform": "api",
            **QUESTIONS[response_type],
        }
        made = self.call("POST", f"/v1/api/loops/{loop_id}/requests", body)
        return str(made["polling_url"])

    def read_answer(self, polling_url: str) -> Any:
        request = self.call("GET", polling_url)["request"]
        assert (request["status"], request["answered_by"]) == ("completed", "human")
        return request["response_data"]


@pytest.fixture
def program(site: str, owner: User) -> Iterator[Program]:
    client = Program(site, key_of(owner))
    with client.session:
        yield client


def test_from_the_join_link_to_the_answers(program: Program, visitor: Visitor) -> None:
    loop = {"name": "Refund desk", "description": "Who gets money back?", "icon": "heart"}
    made = program.call("POST", "/v1/api/loops", loop)
    visitor.open(made["join_url"])
    visitor.reads("Owner invites you to the loop")
    visitor.sign_up(name="Rita Reviewer", email="rita@example.org")
    type_code(visitor, code_in_the_mail())
    visitor.press("Join Refund desk")
    visitor.reads("You’ve joined Refund desk.")
    visitor.reads("You’re all caught up")

    polling = {kind: program.ask(made["loop"]["id"], kind) for kind in QUESTIONS}
    visitor.open("/inbox/")
    visitor.reads("5 waiting for you")
    visitor.go(visitor.page.locator(".inbox a").first)
    answer_all_five(visitor)
    visitor.reads("You’re all caught up.")

    answers = {kind: program.read_answer(url) for kind, url in polling.items()}
    assert answers == {
        "text": "Dear Ms Roe,\nit is on its way.",
        "single_select": "full",
        "multi_select": ["red", "blue"],
        "rating": 4,
        "number": 12.5,
    }
    assert {kind: type(answer) for kind, answer in answers.items()} == {
        "text": str,
        "single_select": str,
        "multi_select": list,
        "rating": int,
        "number": float,
    }


def answer_all_five(visitor: Visitor) -> None:
    """In the order of the inbox: critical first, then the nearest deadline."""
    page = visitor.page
    visitor.reads("A question of type text")
    page.get_by_label("Your answer", exact=True).fill("Dear")
    visitor.send()
    visitor.reads("The answer must have at least 5 characters")
    assert page.get_by_role("textbox", name="Your answer").input_value() == "Dear"
    page.get_by_role("textbox", name="Your answer").fill("Dear Ms Roe,\nit is on its way.")
    visitor.send()

    visitor.reads("Sent: Dear Ms Roe,")
    visitor.reads("A question of type single_select")
    visitor.reads("saucer")
    page.get_by_role("button", name="I’m on it").click()
    visitor.reads("You’re on it")
    page.get_by_text("Refund in full").click()
    visitor.send()

    visitor.reads("Sent: Refund in full")
    visitor.reads("Choose 1 to 2")
    page.get_by_label("blue").check()
    page.get_by_label("red").check()
    visitor.send()

    visitor.reads("Sent: red, blue")
    page.locator(".stars .choice").filter(has_text="4").click()
    visitor.send()

    visitor.reads("Sent: 4")
    page.get_by_role("textbox", name="Your answer").fill("12,5")
    visitor.send()
    visitor.reads("5 answers sent")
