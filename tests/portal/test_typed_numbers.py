"""Numbers that reviewers and askers type, by the language of the page."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.dashboard.test_new_request import NEW, fields
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de"}
TWO = "Das könnten zwei Zahlen sein. Schreiben Sie"
WIDE = {"max_value": 1_000_000, "allow_negative": True}


def answer(browser: Client, request: Request, typed: str) -> Any:
    return browser.post(f"/inbox/{request.pk}/answer/", {"answer": typed})


@pytest.mark.parametrize("typed", ["1.000", "100.000", "-1.250", "１．０００"])
def test_a_german_page_refuses_what_could_be_two(member: User, make: Make, typed: str) -> None:
    request = make(response_type="number", response_config=WIDE, default_response=1)
    response = answer(signed_in(member, headers=GERMAN), request, typed)
    assert response.status_code == 422
    assert TWO in words(response)


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("1,125", 1.125),
        ("1.000,5", 1000.5),
        ("1.000.000", 1_000_000),
        ("\u22125", -5),
        ("１２", 12),
    ],
)
def test_a_german_page_understands(member: User, make: Make, typed: str, stored: float) -> None:
    config = {**WIDE, "decimal_places": 3}
    request = make(response_type="number", response_config=config, default_response=1)
    assert answer(signed_in(member, headers=GERMAN), request, typed).status_code == 303
    assert services.read_request(request.pk).response_data == stored


def test_a_whole_number_may_have_thousands(member: User, make: Make) -> None:
    config = {**WIDE, "decimal_places": 0}
    request = make(response_type="number", response_config=config, default_response=1)
    browser = signed_in(member, headers=GERMAN)
    assert TWO in words(answer(browser, request, "1,000"))
    assert answer(browser, request, "1.000").status_code == 303
    assert services.read_request(request.pk).response_data == 1000


def test_buttons_of_a_scale_have_no_language(member: User, make: Make) -> None:
    config = {"scale_min": 1, "scale_max": 2, "scale_step": 0.125}
    request = make(response_type="rating", response_config=config, default_response=1)
    assert answer(signed_in(member, headers=GERMAN), request, "1.125").status_code == 303
    assert services.read_request(request.pk).response_data == 1.125


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("timeout", {"timeout": "1,200", "timeout_unit": "minutes"}),
        ("max_value", {"response_type": "number", "max_value": "1,000", "default_response": "1"}),
        ("default_response",
         {"response_type": "number", "max_value": "5000", "default_response": "1,000"}),
        ("scale_step", {"response_type": "rating", "scale_max": "5", "scale_step": "1,000",
                        "default_response": "1"}),
    ],
)  # fmt: skip
def test_new_request_refuses(owner: User, loop: Loop, field: str, changes: dict[str, str]) -> None:
    html = signed_in(owner).post(NEW, fields(loop, **changes)).content.decode()
    place = html.index(f'id="id_{field}_error"')
    assert "This could be two numbers. Write 1" in html[place : place + 300]
    assert not Request.objects.exists()


def test_new_request_understands_thousands_of_whole_numbers(owner: User, loop: Loop) -> None:
    changes = {"response_type": "text", "max_length": "1,000", "timeout": "１"}
    signed_in(owner).post(NEW, fields(loop, **changes))
    made = Request.objects.get()
    assert made.response_config["max_length"] == 1000
    assert made.timeout_seconds == 3600


def test_ask_again_shows_numbers_that_are_read_back(owner: User, make: Make) -> None:
    config = {"max_value": 1000.125, "min_value": 0.5, "decimal_places": 3}
    first = make(response_type="number", response_config=config, default_response=1.125)
    browser = signed_in(owner, headers=GERMAN)
    page = browser.get(f"{NEW}?from={first.pk}")
    form = page.context["form"]
    shown = {name: form[name].value() or "" for name in form.fields}
    assert (shown["max_value"], shown["default_response"]) == ("1000,125", "1,125")
    browser.post(NEW, {name: value for name, value in shown.items() if value is not False})
    again = Request.objects.exclude(pk=first.pk).get()
    assert again.response_config["max_value"] == 1000.125
    assert again.default_response == 1.125
