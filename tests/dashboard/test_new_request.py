"""Asking in the dashboard: every answer type, the command beside it, and what is wrong."""

import json
import re
import shlex
from html import unescape
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Usage, User
from loops.models import Loop
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db

NEW = "/dashboard/requests/new/"
USUAL = {
    "type": "markdown",
    "request_text": "Refund **4821**?",
    "priority": "high",
    "processing_type": "time-sensitive",
    "timeout": "2",
    "timeout_unit": "hours",
    "response_type": "single_select",
    "options": "yes | Yes, refund\r\nno",
    "required": "on",
    "default_response": "no",
}
SCHEMA = {"type": "object", "properties": {"amount": {"type": "number", "title": "Größe"}}}
TYPES: dict[str, tuple[dict[str, str], dict[str, Any], Any]] = {
    "single_select": (
        {"options": " yes | Yes, refund \r\n\r\nno", "default_response": "no"},
        {"options": [{"value": "yes", "label": "Yes, refund"}, "no"], "required": True},
        "no",
    ),
    "multi_select": (
        {"options": "red\nblue", "max_selections": "1", "default_response": "red\r\n"},
        {"options": ["red", "blue"], "max_selections": 1, "required": True},
        ["red"],
    ),
    "rating": (
        {"scale_min": "0", "scale_max": "5", "scale_step": "0,5", "default_response": " 2.5 "},
        {"scale_min": 0, "scale_max": 5, "scale_step": 0.5, "required": True},
        2.5,
    ),
    "number": (
        {"max_value": "1000", "allow_negative": "on", "default_response": "-3"},
        {"max_value": 1000, "allow_negative": True, "required": True},
        -3,
    ),
    "text": (
        {"placeholder": "Dear …", "max_length": "80", "default_response": "One\r\nmoment"},
        {"placeholder": "Dear …", "max_length": 80, "required": True},
        "One\nmoment",
    ),
    "form": (
        {"schema": json.dumps(SCHEMA, indent=2), "default_response": ' {"amount": 5}\r\n'},
        {"schema": SCHEMA, "required": True},
        {"amount": 5},
    ),
    "approval": (
        {
            "proposal": '{"name": "refund", "arguments": {"order": 4821, "amount": 9.5}}',
            "actions": "approve\r\nedit\r\nreject",
            "editable": "amount",
            "default_response": "Reject: nobody had time",
        },
        {
            "proposal": {"name": "refund", "arguments": {"order": 4821, "amount": 9.5}},
            "actions": ["approve", "edit", "reject"],
            "editable": ["amount"],
            "required": True,
        },
        {"action": "reject", "message": "nobody had time"},
    ),
}
APPROVAL = {"response_type": "approval", "proposal": '{"name": "x"}', "default_response": "reject"}


def fields(into: Loop, **changes: str) -> dict[str, str]:
    return {**USUAL, "loop": into.pk, **changes}


def command(answer: Any) -> list[str]:
    """The words of the command on the page, as a shell reads them."""
    (found,) = re.findall(r'curl"><code>(.*?)</code>', answer.content.decode(), re.S)
    return shlex.split(unescape(found).replace("\\\n", " "))


@pytest.mark.parametrize("kind", TYPES)
def test_every_answer_type(owner: User, loop: Loop, kind: str) -> None:
    typed, config, default = TYPES[kind]
    data = fields(loop, response_type=kind, **typed)
    response = signed_in(owner).post(NEW, data, follow=True)
    (made,) = Request.objects.all()
    assert response.redirect_chain == [(f"/dashboard/requests/{made.pk}/", 302)]
    assert "Asked 2 members." in words(response)
    assert (made.response_config, made.default_response) == (config, default)
    assert (made.timeout_seconds, made.priority) == (7200, "high")
    assert (made.platform, made.api_key_id) == ("web_portal", None)
    assert not Usage.objects.exists()


def test_an_image_a_callback_and_context(owner: User, loop: Loop) -> None:
    data = fields(
        loop,
        type="image",
        image_url=" https://x.example/a.png ",
        callback_url="https://x.example/hook",
        context='{"order": 4821}',
        processing_type="deferred",
        timeout="nonsense that does not count",
    )
    signed_in(owner).post(NEW, data)
    made = Request.objects.get()
    assert (made.image_url, made.callback_url) == (
        "https://x.example/a.png",
        "https://x.example/hook",
    )
    assert made.context == {"order": 4821}
    assert made.timeout_seconds == 30 * 86400


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"request_text": " "}, "request_text", "Enter the question"),
        ({"request_text": "x" * 2001}, "request_text", "Question must be between 1 and 2000"),
        ({"type": "image"}, "image_url", "Enter the URL of the image"),
        ({"type": "image", "image_url": "x"}, "image_url", "Image URL must be an absolute http"),
        ({"timeout": ""}, "timeout", "Enter a time between one minute and one day"),
        ({"timeout": "25"}, "timeout", "Enter a time between one minute and one day"),
        ({"timeout": "soon"}, "timeout", "Enter a time between one minute and one day"),
        ({"options": ""}, "options", "Enter at least one option"),
        ({"options": "a\na"}, "options", "Option 2 must be unique"),
        ({"default_response": "maybe"}, "default_response", "must match one of the configured"),
        ({"response_type": "rating", "scale_max": "x"}, "scale_max", "To must be an integer"),
        ({"response_type": "number"}, "max_value", "Maximum is required"),
        (
            {"response_type": "number", "max_value": "9", "default_response": "x"},
            "default_response",
            "Default response must be a number",
        ),
        ({"response_type": "form", "default_response": ""}, "schema", "Schema is required"),
        (
            {"response_type": "form", "schema": "{\n{", "default_response": ""},
            "schema",
            "Line 2 is not JSON. Enter an object, such as",
        ),
        (
            {
                "response_type": "form",
                "schema": '{"type": "object", "properties": {"a": {"type": "text"}}}',
                "default_response": "",
            },
            "schema",
            "schema.properties.a.type must be one of: string, number, integer, boolean, array",
        ),
        (
            {"response_type": "form", "schema": json.dumps(SCHEMA), "default_response": "no"},
            "default_response",
            "Line 1 is not JSON. Enter an object, such as",
        ),
        (
            {
                "response_type": "form",
                "schema": json.dumps(SCHEMA),
                "default_response": '{"amount": "5"}',
            },
            "default_response",
            "default_response.amount must be a number",
        ),
        (
            {
                "response_type": "form",
                "schema": json.dumps(SCHEMA),
                "default_response": '{"amount": "\\ud800"}',
            },
            "default_response",
            "Enter a JSON object, such as",
        ),
        ({**APPROVAL, "proposal": ""}, "proposal", "Proposal is required"),
        ({**APPROVAL, "proposal": "{name}"}, "proposal", "Line 1 is not JSON"),
        ({**APPROVAL, "proposal": "[]"}, "proposal", "Enter a JSON object"),
        (
            {**APPROVAL, "proposal": '{"name": "x", "arguments": {"a": [9007199254740993]}}'},
            "proposal",
            "proposal.arguments.a[0] must be between",
        ),
        ({**APPROVAL, "actions": "approve\ndeny"}, "actions", "actions[1] must be one of: approve"),
        ({**APPROVAL, "editable": "a"}, "editable", "Editable arguments needs the action edit"),
        (
            {**APPROVAL, "default_response": "maybe"},
            "default_response",
            "Enter reject, or respond: and a message",
        ),
        (
            {**APPROVAL, "default_response": "approve"},
            "default_response",
            "default_response.action must not be approve, because nobody has looked",
        ),
        ({"callback_url": "ftp://x"}, "callback_url", "Callback URL must be an absolute http"),
        ({"context": "[1]"}, "context", "Enter a JSON object"),
        ({"context": '{"a": 1e999}'}, "context", "Enter a JSON object"),
        (
            {"context": '{"a": 1,\n b: 2}'},
            "context",
            "Line 2 is not JSON. Enter an object, such as",
        ),
        ({"loop": "x"}, "loop", "Select a valid choice."),
        ({"priority": "urgent"}, "priority", "Select a valid choice."),
    ],
)
def test_what_is_wrong_stands_beside_it(
    owner: User, loop: Loop, changes: dict[str, str], field: str, sentence: str
) -> None:
    response = signed_in(owner).post(NEW, fields(loop, placeholder="kept", **changes))
    assert response.status_code == 422
    html = response.content.decode()
    (error,) = re.findall(rf'id="id_{field}_error">(.*?)</ul>', html, re.S)
    assert sentence in error
    assert 'value="kept"' in html
    assert not Request.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"request_text": "x" * 2001}, "request_text", "Frage muss 1 bis 2000 Zeichen lang sein"),
        ({"options": "a\na"}, "options", "Option 2 muss eindeutig sein"),
        (
            {"response_type": "number", "max_value": "1,5", "min_value": "2,5"},
            "max_value",
            "Maximum darf nicht kleiner sein als Minimum (2,5)",
        ),
        (
            {"response_type": "rating", "scale_min": "7", "scale_max": "5"},
            "scale_min",
            "Von (7) muss kleiner sein als Bis (5)",
        ),
        ({"response_type": "text", "min_length": "-1"}, "min_length", "muss eine ganze Zahl"),
        ({"callback_url": "ftp://x"}, "callback_url", "muss eine vollständige URL"),
        ({"type": "image"}, "image_url", "Geben Sie die URL des Bildes ein"),
    ],
)
def test_what_is_wrong_is_said_in_german(
    owner: User, loop: Loop, changes: dict[str, str], field: str, sentence: str
) -> None:
    browser = signed_in(owner, headers={"accept-language": "de"})
    html = browser.post(NEW, fields(loop, **changes)).content.decode()
    (error,) = re.findall(rf'id="id_{field}_error">(.*?)</ul>', html, re.S)
    assert sentence in error
    assert "must" not in error


def test_the_command_asks_the_same(owner: User, loop: Loop) -> None:
    data = fields(loop, request_text="It's 5 o'clock; $HOME \\ `x`?")
    response = signed_in(owner).post(NEW + "curl/", data)
    assert "<html" not in response.content.decode()
    shell = command(response)
    assert shell[0] == "curl"
    assert shell[1].endswith(f"/v1/api/loops/{loop.pk}/requests")
    assert "Authorization: Bearer $REVIEW_LOOP_KEY" in shell
    body = json.loads(shell[-1])
    assert body["request_text"] == "It's 5 o'clock; $HOME \\ `x`?"
    assert body["platform"] == "api"
    assert not Request.objects.exists()
    signed_in(owner).post(NEW, data)
    made = Request.objects.get()
    assert {name: getattr(made, name) for name in body if name != "platform"} == {
        name: value for name, value in body.items() if name != "platform"
    }


@pytest.mark.parametrize("changes", [{}, {"scale_max": "x", "response_type": "rating"}])
def test_without_scripts_a_button_shows_the_command(
    owner: User, loop: Loop, changes: dict[str, str]
) -> None:
    data = fields(loop, context="{oops", **changes) | {"show-curl": "1"}
    response = signed_in(owner).post(NEW, data)
    assert response.status_code == 200
    assert json.loads(command(response)[-1])["request_text"] == "Refund **4821**?"
    assert "{oops" in response.content.decode()
    assert "errorlist" not in response.content.decode()
    assert not Request.objects.exists()


@pytest.mark.django_db(transaction=True)  # what is refused ends its transaction
def test_a_double_click_asks_once(owner: User, loop: Loop) -> None:
    browser = signed_in(owner)
    (once,) = re.findall(r'name="once" value="([^"]+)"', browser.get(NEW).content.decode())
    first, second = (browser.post(NEW, fields(loop, once=once)) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Request.objects.count() == 1


def test_the_loop_of_the_link_is_chosen(owner: User, loop: Loop) -> None:
    create_loop(owner_id=owner.pk, name="Newer", icon="x")
    html = signed_in(owner).get(f"{NEW}?loop={loop.pk}").content.decode()
    assert f'<option value="{loop.pk}" selected>' in html
    assert f"/v1/api/loops/{loop.pk}/requests" in html


def test_only_into_my_own_loops(member: User, outsider: User, loop: Loop) -> None:
    for person in (member, outsider):
        browser = signed_in(person)
        assert "Create a loop first" in words(browser.get(NEW))
        assert browser.post(NEW, fields(loop)).status_code == 422
    assert not Request.objects.exists()


def test_a_loop_that_was_deleted_meanwhile(owner: User, loop: Loop) -> None:
    create_loop(owner_id=owner.pk, name="Other", icon="x")
    services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    response = signed_in(owner).post(NEW, fields(loop))
    assert response.status_code == 422
    assert USUAL["request_text"] in response.content.decode()


def test_strangers_come_back(client: Client, owner: User) -> None:
    assert client.post(NEW)["Location"] == f"/accounts/login/?next={NEW}"
    assert client.post(NEW + "curl/")["Location"].startswith("/accounts/login/")
    assert signed_in(owner).get(NEW + "curl/")["Location"] == NEW


def test_at_the_same_cost(
    owner: User, loop: Loop, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(250):
        create_loop(owner_id=owner.pk, name=f"{'W' * 90} {number}", icon="x")
    browser = signed_in(owner)
    with django_assert_num_queries(3):
        response = browser.get(NEW)
    assert len(response.content) < 64_000


class TestSections:
    """Six fields first; the others are in sections, which are open if something in them is set."""

    def sections(self, response: Any) -> dict[str, bool]:
        """Each section, and whether it is open."""
        found = re.findall(
            r'<details class="more"( open)?>\s*<summary>.*?</svg>([^<]*)</summary>',
            response.content.decode(),
            re.DOTALL,
        )
        return {unescape(title).strip(): bool(mark) for mark, title in found}

    def test_all_are_shut_at_first(self, owner: User, loop: Loop) -> None:
        response = signed_in(owner).get(NEW)
        assert list(self.sections(response)) == [
            "Image",
            "Rules for the answer",
            "Priority and processing",
            "Callback, context and metadata",
        ]
        assert not any(self.sections(response).values())
        page = re.sub(r"(?s)<details class=.more.*?</details>", "", response.content.decode())
        shown = re.findall(r'<(?:select|textarea|input)[^>]* name="(\w+)"', page)
        first = ["loop", "request_text", "response_type", "options", "default_response", "timeout"]
        assert [name for name in first if name not in shown] == []
        assert not {"priority", "type", "processing_type", "callback_url", "required"} & {*shown}

    @pytest.mark.parametrize(
        ("changes", "part"),
        [
            ({"type": "image"}, "Image"),
            ({"priority": "high"}, "Priority and processing"),
            ({"processing_type": "deferred"}, "Priority and processing"),
            ({"required": ""}, "Rules for the answer"),
            ({"callback_url": "nowhere"}, "Callback, context and metadata"),
            ({"context": "no json"}, "Callback, context and metadata"),
            ({"metadata": "no json"}, "Callback, context and metadata"),
        ],
    )
    def test_an_error_or_a_value_opens_its_part(
        self, owner: User, loop: Loop, changes: dict[str, str], part: str
    ) -> None:
        typed = {**USUAL, "priority": "medium", "loop": loop.pk, "request_text": "", **changes}
        response = signed_in(owner).post(NEW, typed)
        assert response.status_code == 422
        assert [name for name, is_open in self.sections(response).items() if is_open] == [part]


@pytest.mark.parametrize("field", ["callback_url", "image_url"])
def test_a_pasted_url_is_cleaned(owner: User, loop: Loop, field: str) -> None:
    url, browser = "https://example.com/hook", signed_in(owner)
    changes = {"type": "image", "image_url": "https://example.com/a.png"}
    browser.post(NEW, fields(loop, **{**changes, field: f"\u200b {url}\u00a0\ufeff"}))
    assert getattr(Request.objects.get(), field) == url
    page = words(
        browser.post(NEW, fields(loop, **{**changes, field: "https://exam\u200bple.com/"}))
    )
    assert "The URL has an invisible character inside." in page
