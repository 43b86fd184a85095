"""Answering a form: its fields without scripts, what each refuses, and what the program reads."""

import re
from html import unescape
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, make_overdue

pytestmark = pytest.mark.django_db

SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "The refund",
    "description": "Fill in what you know.",
    "properties": {
        "amount": {"type": "number", "title": "Amount", "minimum": 0, "maximum": 80},
        "count": {"type": "integer", "minimum": 1},
        "mail": {"type": "string", "format": "email", "description": "Who gets <it>"},
        "site": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time", "title": "When"},
        "note": {"type": "string", "minLength": 3},
        "sure": {"type": "boolean", "title": "I am sure"},
        "reason": {
            "type": "string",
            "enum": ["late", "broken"],
            "enumNames": ["Too late", "Broken"],
        },
        "tags": {
            "type": "array",
            "items": {"anyOf": [{"const": "x", "title": "X"}, {"const": "y"}]},
        },
    },
    "required": ["amount", "reason"],
}
FORM: dict[str, Any] = {
    "response_type": "form",
    "response_config": {"schema": SCHEMA},
    "default_response": {"amount": 0, "reason": "late"},
}
FULL = {
    "answer.amount": "12,5",
    "answer.count": "3",
    "answer.mail": " ada@example.com ",
    "answer.site": "https://example.com",
    "answer.day": "2026-12-31",
    "answer.moment": "2026-07-01T18:00",
    "answer.note": " two\r\nlines ",
    "answer.sure": "true",
    "answer.reason": "broken",
    "answer.tags": ["y", "x"],
}
STORED = {
    "amount": 12.5,
    "count": 3,
    "mail": "ada@example.com",
    "site": "https://example.com",
    "day": "2026-12-31",
    "moment": "2026-07-01T18:00:00+02:00",
    "note": " two\nlines ",
    "sure": True,
    "reason": "broken",
    "tags": ["x", "y"],
}


def form_of(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"response_type": "form", "response_config": {"schema": schema}, "default_response": {}}


def in_berlin(user: User) -> User:
    User.objects.filter(pk=user.pk).update(time_zone="Europe/Berlin")
    return user


def errors(response: Any) -> dict[str, str]:
    """The sentence beside each field, by the id of its controls."""
    found = re.findall(r'id="(field-\d+|answer)-error"[^>]*>([^<]*)</p>', response.content.decode())
    return {name: " ".join(text.split()) for name, text in found if text.strip()}


def control(response: Any, name: str) -> str:
    (found,) = re.findall(
        rf'<(?:input|textarea|select)[^>]*name="{re.escape(name)}"[^>]*>', response.content.decode()
    )
    return str(found)


def test_a_program_asks_and_a_person_fills_it_in(owner_key: str, member: User, loop: Loop) -> None:
    api = Api(owner_key)
    created = api.post(f"/v1/api/loops/{loop.pk}/requests", {**FIELDS, **FORM})
    request_id = created.json()["data"]["request_id"]
    browser = signed_in(in_berlin(member))
    page = words(browser.get(f"/inbox/{request_id}/"))
    for text in (
        "The refund",
        "Fill in what you know.",
        "Amount (required) From 0 to 80.",
        "Who gets <it>",
        "When In your time zone, Europe/Berlin.",
        "If nobody answers in time: Amount: 0; reason: Too late",
    ):
        assert text in page
    sent = browser.post(f"/inbox/{request_id}/answer/", FULL, follow=True)
    assert "Amount 12.5" in words(sent)
    assert "When 2026-07-01 18:00 UTC+02:00" in words(sent)
    read = api.get(f"/v1/api/requests/{request_id}").json()["data"]["request"]
    assert (read["response_data"], list(read["response_data"])) == (STORED, list(STORED))
    assert read["default_response"] == {"amount": 0, "reason": "late"}
    assert read["response_config"] == {"schema": SCHEMA}


def test_each_field_has_its_native_control(member: User, make: Make) -> None:
    request = make(**FORM)
    page = signed_in(member).get(f"/inbox/{request.pk}/")
    for name, shape in (
        ("amount", 'inputmode="decimal"'),
        ("count", 'inputmode="numeric"'),
        ("mail", 'type="email"'),
        ("site", 'type="url"'),
        ("day", 'type="date"'),
        ("moment", 'type="datetime-local"'),
        ("note", "<textarea"),
        ("sure", 'type="checkbox"'),
    ):
        assert shape in control(page, f"answer.{name}")
    assert 'aria-required="true"' in control(page, "answer.amount")
    assert "aria-required" not in control(page, "answer.count")
    source = page.content.decode()
    assert len(re.findall(r'type="radio"\s+name="answer.reason"', source)) == 2
    assert len(re.findall(r'type="checkbox"\s+name="answer.tags"', source)) == 2


def test_optional_fields_left_empty_are_left_out(member: User, make: Make) -> None:
    request = make(**FORM)
    typed = {"answer.amount": "5", "answer.reason": "late", "answer.note": " ", "answer.mail": ""}
    signed_in(member).post(f"/inbox/{request.pk}/answer/", typed)
    stored = services.read_request(request.pk)
    assert stored.response_data == {"amount": 5, "sure": False, "reason": "late"}


def test_every_wrong_field_is_told_and_nothing_is_lost(member: User, make: Make) -> None:
    request = make(**FORM)
    typed = {
        "answer.amount": "1.000,5.5",
        "answer.count": "0",
        "answer.mail": "ada",
        "answer.site": "example.com",
        "answer.day": "tomorrow",
        "answer.moment": "soon",
        "answer.note": "<b>",
        "answer.sure": "true",
        "answer.tags": ["y"],
        "comment": "see above",
    }
    typed["answer.note"] = "<>"
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", typed)
    assert response.status_code == 422
    assert errors(response) == {
        "field-0": "Enter a number in plain digits, like 5 or -3.25",
        "field-1": "count must be at least 1",
        "field-2": "mail must be an email address",
        "field-3": "site must be a full URL, such as https://example.com",
        "field-4": "day must be a date such as 2026-12-31",
        "field-5": "Enter a date and time such as 2026-12-31 18:00",
        "field-6": "note must have at least 3 characters",
        "field-8": "reason is required",
    }
    assert 'value="1.000,5.5"' in control(response, "answer.amount")
    assert "autofocus" in control(response, "answer.amount")
    assert response.content.decode().count("autofocus") == 1
    assert 'value="ada"' in control(response, "answer.mail")
    assert "checked" in control(response, "answer.sure")
    assert "&lt;&gt;</textarea>" in response.content.decode()
    assert re.search(r'value="y"\s+checked', response.content.decode())
    assert services.read_request(request.pk).status == "pending"


@pytest.mark.parametrize(
    ("typed", "place", "sentence"),
    [
        ({"answer.amount": "81"}, "field-0", "Amount must be at most 80"),
        ({"answer.amount": ["1", "2"]}, "field-0", "Give one answer only"),
        ({"answer.amount": "9007199254740993"}, "field-0", "Amount must be at most 80"),
        ({"answer.count": "1,5"}, "field-1", "count must be an integer"),
        ({"answer.count": "9007199254740993"}, "field-1", "count must be at most 9007199254740991"),
        ({"answer.reason": "never"}, "field-8", "reason must be one of the options"),
        ({"answer.tags": ["x", "z"]}, "field-9", "tags must only have values of the options"),
        ({"answer.tags": ["x", "x"]}, "field-9", "tags must not contain an option twice"),
        ({"answer.note": "abc\0"}, "field-6", "note contains a character that cannot be stored"),
        ({"answer.note": "x" * 10_001}, "field-6", "note must have at most 10000 characters"),
        ({"answer.other": "x"}, "answer", "response_data.other is no field of the schema"),
        ({"answer.__proto__": "x"}, "answer", "response_data.__proto__ is no field of the schema"),
        ({"answer": "x"}, "answer", "response_data.answer is no field of the schema"),
    ],
)
def test_what_a_form_refuses(
    member: User, make: Make, typed: dict[str, Any], place: str, sentence: str
) -> None:
    request = make(**FORM)
    right = {"answer.amount": "5", "answer.reason": "late"}
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", {**right, **typed})
    assert response.status_code == 422
    assert errors(response) == {place: sentence}
    assert services.read_request(request.pk).status == "pending"


def test_an_answer_of_256_kib_is_refused(member: User, make: Make) -> None:
    request = make(**form_of(**{f"f{n}": {"type": "string"} for n in range(30)}))
    typed = {f"answer.f{n}": "x" * 8738 for n in range(30)}
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", typed)
    assert errors(response) == {"answer": "All texts together must have at most 20,000 characters"}
    assert services.read_request(request.pk).status == "pending"


def test_defaults_are_typed_in_already(member: User, make: Make) -> None:
    request = make(
        **form_of(
            a={"type": "number", "default": 1.5},
            b={"type": "boolean", "default": True},
            c={"type": "string", "enum": ["x", "y"], "default": "y"},
            d={"type": "array", "items": {"enum": ["x", "y"]}, "default": ["x"]},
            e={"type": "string", "format": "date-time", "default": "2026-01-01T12:00:00Z"},
            f={"type": "string", "maxLength": 20, "default": "<&>"},
        )
    )
    browser = signed_in(in_berlin(member))
    page = browser.get(f"/inbox/{request.pk}/")
    assert 'value="1.5"' in control(page, "answer.a")
    assert "checked" in control(page, "answer.b")
    assert 'value="2026-01-01T13:00"' in control(page, "answer.e")
    assert 'value="&lt;&amp;&gt;"' in control(page, "answer.f")
    assert re.search(r'value="y"\s+checked', page.content.decode())
    assert "data-defaults" in page.content.decode()
    refused = browser.post(f"/inbox/{request.pk}/answer/", {"answer.a": "x", "answer.f": ""})
    assert "data-defaults" not in refused.content.decode()
    assert "checked" not in control(refused, "answer.b")  # it was taken back
    assert 'value=""' in control(refused, "answer.f")


def test_an_optional_choice_can_be_taken_back(member: User, make: Make) -> None:
    many = [f"option {n}" for n in range(8)]
    request = make(
        **form_of(a={"type": "string", "enum": ["x"]}, b={"type": "string", "enum": many})
    )
    browser = signed_in(member)
    page = browser.get(f"/inbox/{request.pk}/")
    assert "No answer" in words(page)
    assert control(page, "answer.b").startswith("<select")
    browser.post(f"/inbox/{request.pk}/answer/", {"answer.a": "", "answer.b": ""})
    stored = services.read_request(request.pk)
    assert (stored.status, stored.response_data) == ("completed", {})
    assert "nothing" in words(browser.get(f"/inbox/{request.pk}/"))


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("2026-01-01T12:00", "2026-01-01T12:00:00+01:00"),
        ("2026-01-01 12:00:30", "2026-01-01T12:00:30+01:00"),
        ("2026-10-25T02:30", "2026-10-25T02:30:00+02:00"),  # the first of two
        ("2026-10-25T02:30:00+01:00", "2026-10-25T02:30:00+01:00"),
        ("1800-01-01T12:00", "1800-01-01T11:06:32+00:00"),
    ],
)
def test_moments_are_in_the_time_zone_of_the_person(
    member: User, make: Make, typed: str, stored: str
) -> None:
    request = make(**form_of(a={"type": "string", "format": "date-time"}))
    signed_in(in_berlin(member)).post(f"/inbox/{request.pk}/answer/", {"answer.a": typed})
    assert services.read_request(request.pk).response_data == {"a": stored}


@pytest.mark.parametrize(
    "moment",
    [
        "2026-12-31T18:00:30Z",  # has seconds, which are not shown
        "2026-10-25T01:30:00Z",  # the second of two at 02:30
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-12:00",
    ],
)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_a_default_moment_that_is_left_stays_as_it_was(
    member: User, make: Make, zone: str, moment: str
) -> None:
    field = {"type": "string", "format": "date-time", "default": moment}
    request = make(**form_of(a=field, b={"type": "string"}))
    User.objects.filter(pk=member.pk).update(time_zone=zone)
    browser = signed_in(member)
    shown = control(browser.get(f"/inbox/{request.pk}/"), "answer.a")
    typed = attribute_of(shown, "value")
    assert attribute_of(shown, "type") == ("text" if typed == moment else "datetime-local")
    browser.post(f"/inbox/{request.pk}/answer/", {"answer.a": typed, "answer.b": "x"})
    assert services.read_request(request.pk).response_data == {"a": moment, "b": "x"}


def test_a_default_text_keeps_its_line_breaks(member: User, make: Make) -> None:
    request = make(**form_of(a={"type": "string", "default": "a\r\nb\rc"}))
    typed = {"answer.a": "a\r\nb\r\nc"}
    signed_in(member).post(f"/inbox/{request.pk}/answer/", typed)
    assert services.read_request(request.pk).response_data == {"a": "a\r\nb\rc"}


def attribute_of(html: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', html)
    assert found, html
    return unescape(found[1])


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("2026-03-29T02:30", "Clocks are set forward then: 02:30 does not exist"),
        ("0001-01-01T00:00", "Enter a date and time such as 2026-12-31 18:00"),
        ("9999-12-31T23:59:59-12:00", "Enter a date and time such as 2026-12-31 18:00"),
    ],
)
def test_moments_that_do_not_exist(member: User, make: Make, typed: str, sentence: str) -> None:
    request = make(**form_of(a={"type": "string", "format": "date-time"}))
    browser = signed_in(in_berlin(member))
    response = browser.post(f"/inbox/{request.pk}/answer/", {"answer.a": typed})
    assert errors(response) == {"field-0": sentence}


def test_numbers_are_in_the_language_of_the_page(owner: User, member: User, make: Make) -> None:
    request = make(**FORM)
    browser = signed_in(member, headers={"accept-language": "de"})
    typed = {"answer.amount": "1.125", "answer.reason": "late"}
    response = browser.post(f"/inbox/{request.pk}/answer/", typed)
    assert "1125" in errors(response)["field-0"]
    browser.post(f"/inbox/{request.pk}/answer/", {**typed, "answer.amount": "1,125"})
    assert services.read_request(request.pk).response_data["amount"] == 1.125
    assert "I am sure Nein" in words(browser.get(f"/inbox/{request.pk}/"))
    german = signed_in(owner, headers={"accept-language": "de"})
    assert "I am sure: Nein" in words(german.get(f"/dashboard/requests/{request.pk}/"))


def test_an_answer_too_late_is_kept(owner: User, member: User, make: Make) -> None:
    request = make(**FORM)
    services.answer_request(
        request=request, reviewer_id=owner.pk, answer={"amount": 1, "reason": "late"}
    )
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", FULL)
    assert response.status_code == 409
    page = words(response)
    assert "Owner answered this question" in page
    assert "Amount: 12,5" in page
    assert "reason: Broken" in page
    assert "tags: y, X" in page


def test_an_answer_survives_the_end_of_the_sign_in(member: User, make: Make) -> None:
    request = make(**FORM)
    browser = signed_in(member)
    del browser.cookies["sessionid"]
    browser.post(f"/inbox/{request.pk}/answer/", {**FULL, "person": member.pk})
    browser.force_login(member)
    page = browser.get(f"/inbox/{request.pk}/")
    assert "Your answer was saved while you signed in." in words(page)
    assert 'value="12,5"' in control(page, "answer.amount")
    assert re.search(r'value="broken"\s+checked', page.content.decode())


def test_the_default_stands_after_the_deadline(owner: User, make: Make) -> None:
    request = make(**FORM)
    make_overdue(request)
    read = services.read_request(request.pk)
    assert (read.status, read.response_data) == ("timeout", {"amount": 0, "reason": "late"})
    page = words(signed_in(owner).get(f"/dashboard/requests/{request.pk}/"))
    assert "The default response was used: Amount: 0; reason: Too late" in page
    assert Request.objects.get().response_by_id is None
