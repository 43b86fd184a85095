"""A new response type is a class and a template: API, pages and OpenAPI follow by themselves."""

import re
from typing import Any

import pytest
from django.template import TemplateDoesNotExist
from django.test import Client

from accounts.models import User
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.api.test_openapi import complaints
from tests.conftest import Api
from tests.portal import controls, signed_in, words
from tests.reviews.conftest import FIELDS, Make, make_overdue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("date_type", "date_widget")]

DATE: dict[str, Any] = {
    "response_type": "date",
    "response_config": {"min_date": "2026-05-01", "max_date": "2026-12-31"},
    "default_response": "2027-01-01",
}


def ask(owner_key: str, loop: Loop, **changes: Any) -> Any:
    return Api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", {**FIELDS, **DATE, **changes})


def test_a_program_asks_and_a_person_answers(owner_key: str, member: User, loop: Loop) -> None:
    request_id = ask(owner_key, loop).json()["data"]["request_id"]
    browser = signed_in(member)
    page = browser.get(f"/inbox/{request_id}/")
    (control,) = controls(page)
    assert 'type="date"' in control
    assert 'min="2026-05-01" max="2026-12-31"' in control
    assert "From 2026-05-01 to 2026-12-31." in words(page)
    assert "If nobody answers in time: 1 January 2027" in words(page)
    response = browser.post(f"/inbox/{request_id}/answer/", {"answer": "2026-05-04"}, follow=True)
    assert "4 May 2026" in words(response)
    read = Api(owner_key).get(f"/v1/api/requests/{request_id}").json()["data"]["request"]
    assert (read["response_type"], read["response_data"]) == ("date", "2026-05-04")
    listed = Api(owner_key).get("/v1/api/requests").json()["data"]["requests"][0]
    assert (listed["response_type"], listed["response_data"]) == ("date", "2026-05-04")


@pytest.mark.parametrize(
    ("changes", "message", "detail"),
    [
        (
            {"response_config": {"min_date": "soon"}},
            "Invalid response configuration",
            "min_date must be a date",
        ),
        (
            {"default_response": "soon"},
            "Invalid default response",
            "default_response must be a date",
        ),
        (
            {"response_type": "dates"},
            "Validation failed",
            "response_type must be one of: text, single_select, multi_select, rating, number, "
            "form, approval, date",
        ),
    ],
)
def test_what_a_program_gets_wrong(
    owner_key: str, loop: Loop, changes: dict[str, Any], message: str, detail: str
) -> None:
    answer = ask(owner_key, loop, **changes)
    body = answer.json()
    assert (answer.status_code, body["msg"], body["data"]) == (400, message, detail)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("tomorrow", "Choose a date"),
        ("2027-05-04", "The date must be between 2026-05-01 and 2026-12-31"),
        (["2026-05-04", "2026-05-05"], "Give one answer only"),
    ],
)
def test_what_a_person_gets_wrong(member: User, make: Make, typed: Any, sentence: str) -> None:
    request = make(**DATE)
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", {"answer": typed})
    assert response.status_code == 422
    assert sentence in words(response)
    assert 'aria-invalid="true"' in controls(response)[0]
    assert services.read_request(request.pk).status == "pending"


def test_the_default_stands_after_the_deadline(owner: User, make: Make) -> None:
    request = make(**DATE)
    make_overdue(request)
    read = services.read_request(request.pk)
    assert (read.status, read.response_data) == ("timeout", "2027-01-01")
    page = words(signed_in(owner).get(f"/dashboard/requests/{request.pk}/"))
    assert "The default response was used: 1 January 2027" in page


def test_an_account_holder_asks_in_the_dashboard(owner: User, loop: Loop) -> None:
    browser = signed_in(owner)
    page = browser.get("/dashboard/requests/new/")
    assert 'value="date"' in page.content.decode()
    assert re.search(r'data-types="8">.*name="min_date"', page.content.decode(), re.S)
    typed = {
        **{name: FIELDS[name] for name in ("type", "priority", "request_text", "processing_type")},
        "loop": loop.pk,
        "timeout": "5",
        "timeout_unit": "minutes",
        "response_type": "date",
        "min_date": "soon",
        "default_response": " 2027-01-01 ",
    }
    refused = browser.post("/dashboard/requests/new/", typed)
    assert refused.status_code == 422
    (error,) = re.findall(r'id="id_min_date_error">(.*?)</ul>', refused.content.decode(), re.S)
    assert "Earliest must be a date" in error
    browser.post("/dashboard/requests/new/", {**typed, "min_date": "2026-05-01"})
    made = Request.objects.get()
    assert made.response_config == {"min_date": "2026-05-01", "required": False}
    assert made.default_response == "2027-01-01"


def test_the_document_describes_it(client: Client) -> None:
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    assert schemas["DateConfig"] == {
        "type": "object",
        "description": "A day.",
        "properties": {
            "min_date": {"type": ["string", "null"], "format": "date"},
            "max_date": {"type": ["string", "null"], "format": "date"},
            "required": {"type": ["boolean", "null"], "description": "Default: true."},
        },
        "required": [],
        "additionalProperties": True,
    }
    new = schemas["NewRequest"]
    assert {"$ref": "#/components/schemas/DateRequest"} in new["oneOf"]
    assert new["discriminator"]["mapping"]["date"] == "#/components/schemas/DateRequest"
    properties = schemas["DateRequest"]["properties"]
    assert properties["response_type"] == {"type": "string", "const": "date"}
    assert properties["response_config"] == {"$ref": "#/components/schemas/DateConfig"}
    assert properties["default_response"]["format"] == "date"
    assert "date" in schemas["ResponseType"]["enum"]
    assert ", an ISO date for date; null" in schemas["Answer"]["description"]
    create = document["paths"]["/v1/api/loops/{loop_id}/requests"]["post"]
    content = create["requestBody"]["content"]["application/json"]
    example = content["examples"]["date"]["value"]
    assert example["default_response"] == "2026-12-31"
    assert complaints(document, content["schema"], example) == []
    assert complaints(document, content["schema"], {**example, "default_response": 5}) != []


class TestWithoutItsTemplate:
    @pytest.fixture
    def date_widget(self) -> None:
        """There is none."""

    def test_a_widget_that_nobody_draws_is_a_failure(self, member: User, make: Make) -> None:
        request = make(**DATE)
        with pytest.raises(TemplateDoesNotExist, match=r"^portal/widgets/date\.html$"):
            signed_in(member).get(f"/inbox/{request.pk}/")
