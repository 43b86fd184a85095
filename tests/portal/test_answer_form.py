"""Answering: the form of each type, what it refuses, and what the program then reads."""

from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews import services
from tests.portal import controls, signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db

COLOURS = {"options": ["red", "green", {"value": "b", "label": "Blue & <i>"}]}
RIGHT: list[tuple[str, dict[str, Any], Any, Any, Any]] = [
    ("text", {}, "x", " a\r\nb ", " a\nb "),
    ("text", {"required": False}, "x", "", ""),
    ("single_select", COLOURS, "red", "b", "b"),
    ("multi_select", COLOURS, "red", ["b", "red"], ["red", "b"]),
    ("multi_select", {**COLOURS, "required": False}, "red", [], []),
    ("rating", {"scale_max": 5}, 1, "4", 4),
    ("rating", {"scale_max": 1, "scale_min": 0, "scale_step": 0.1}, 1, "0.3", 0.3),
    ("rating", {"scale_max": 100, "scale_min": 0, "scale_step": 0.5}, 1, "99,5", 99.5),
    ("number", {"max_value": 1000}, 1, " 12,5 ", 12.5),
    ("number", {"max_value": 10, "allow_negative": True}, 1, "-3", -3),
]


@pytest.mark.parametrize(("kind", "config", "default", "typed", "stored"), RIGHT)
def test_a_right_answer_is_stored(
    member: User, make: Make, kind: str, config: Any, default: Any, typed: Any, stored: Any
) -> None:
    request = make(response_type=kind, response_config=config, default_response=default)
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", {"answer": typed})
    assert response.status_code == 303
    assert response["Location"] == f"/inbox/{request.pk}/done/?n=1&sent={request.pk}"
    row = services.read_request(request.pk)
    assert (row.status, row.response_by_id) == ("completed", member.pk)
    assert (row.response_data, type(row.response_data)) == (stored, type(stored))


SHAPES: list[tuple[str, dict[str, Any], Any, int, str, str]] = [
    ("text", {}, "x", 1, "<textarea ", "Up to 10,000 characters."),
    ("text", {"min_length": 5, "max_length": 9}, "x", 1, "<textarea ", "5 to 9 characters."),
    ("text", {"required": False}, "x", 1, "<textarea ", "Up to 10,000 characters, or nothing."),
    ("single_select", COLOURS, "red", 3, 'type="radio"', "Your answer"),
    ("multi_select", COLOURS, "red", 3, 'type="checkbox"', "Choose at least 1."),
    (
        "multi_select",
        {**COLOURS, "min_selections": 2, "max_selections": 2, "required": False},
        "red",
        3,
        'type="checkbox"',
        "Choose 2, or none.",
    ),
    ("multi_select", {**COLOURS, "min_selections": 3}, "red", 3, 'type="checkbox"', "Choose all."),
    ("rating", {"scale_max": 10, "scale_min": 0}, 1, 11, 'type="radio"', "From 0 to 10."),
    ("rating", {"scale_max": 11, "scale_min": 0}, 1, 1, 'type="text"', "From 0 to 11 in steps of"),
    (
        "number",
        {"max_value": 9, "decimal_places": 1},
        1,
        1,
        'inputmode="decimal"',
        "A number from 1 to 9, with at most 1 decimal place.",
    ),
    (
        "number",
        {"max_value": 9, "decimal_places": 0, "allow_negative": True},
        1,
        1,
        'inputmode="text"',
        "A whole number from -9 to 9.",
    ),
]


@pytest.mark.parametrize(("kind", "config", "default", "count", "shape", "rule"), SHAPES)
def test_every_type_has_its_form(
    member: User,
    make: Make,
    kind: str,
    config: Any,
    default: Any,
    count: int,
    shape: str,
    rule: str,
) -> None:
    request = make(response_type=kind, response_config=config, default_response=default)
    response = signed_in(member).get(f"/inbox/{request.pk}/")
    found = controls(response)
    assert len(found) == count
    assert all(shape in control for control in found)
    assert rule in words(response)
    source = response.content.decode()
    for control in found:
        name = control.partition('id="')[2].partition('"')[0]
        assert f'<label for="{name}"' in source or f'<label class="choice" for="{name}"' in source
    assert ("<fieldset" in source) == (count > 1)
    assert "<i>" not in source


WRONG: list[tuple[str, dict[str, Any], Any, Any, str]] = [
    ("text", {"min_length": 5}, "x", "<b>", "The answer must have at least 5 characters"),
    ("text", {}, "x", "\0", "The answer contains a character that cannot be stored"),
    ("text", {}, "x", " ", "Write an answer"),
    ("single_select", COLOURS, "red", "pink", "Choose one of the options"),
    ("single_select", COLOURS, "red", [], "Choose one of the options"),
    ("single_select", COLOURS, "red", ["red", "b"], "Give one answer only"),
    ("multi_select", {**COLOURS, "max_selections": 1}, "red", ["red", "b"], "Choose at most 1"),
    ("multi_select", COLOURS, "red", [], "Choose at least 1 option"),
    ("rating", {"scale_max": 5}, 1, [], "Choose a rating"),
    ("rating", {"scale_max": 50}, 1, "51", "The rating must be between 1 and 50"),
    ("number", {"max_value": 9}, 1, "ten", "Enter a number in plain digits"),
    ("number", {"max_value": 9}, 1, '9"9', "Enter a number in plain digits"),
    ("number", {"max_value": 9}, 1, "1.234", "The number must have at most 2 decimal places"),
]


@pytest.mark.parametrize(("kind", "config", "default", "typed", "fault"), WRONG)
def test_a_wrong_answer_is_told_beside_the_field(
    member: User, make: Make, kind: str, config: Any, default: Any, typed: Any, fault: str
) -> None:
    request = make(response_type=kind, response_config=config, default_response=default)
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", {"answer": typed})
    assert response.status_code == 422
    assert fault in words(response)
    source = response.content.decode()
    assert 'id="answer-error"' in source
    assert 'aria-invalid="true"' in source
    assert 'answer-error"' in source.partition('aria-describedby="')[2]
    assert services.read_request(request.pk).status == "pending"


def test_what_was_typed_is_kept(member: User, make: Make) -> None:
    browser = signed_in(member)
    text = make(response_type="text", response_config={"max_length": 3}, default_response="x")
    typed = "\n</textarea><b>"
    response = browser.post(f"/inbox/{text.pk}/answer/", {"answer": typed})
    assert ">\n\n&lt;/textarea&gt;&lt;b&gt;</textarea>" in response.content.decode()
    multi = make(
        response_type="multi_select",
        response_config={**COLOURS, "max_selections": 1},
        default_response="red",
    )
    response = browser.post(f"/inbox/{multi.pk}/answer/", {"answer": ["red", "b"]})
    assert ["checked" in control for control in controls(response)] == [True, False, True]
    number = make(response_type="number", response_config={"max_value": 9}, default_response=1)
    response = browser.post(f"/inbox/{number.pk}/answer/", {"answer": '9"9'})
    assert 'value="9&quot;9"' in response.content.decode()


def test_a_refused_answer_keeps_the_claim_alive(member: User, make: Make) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=member.pk)
    until = services.read_request(request.pk).claim_expires_at
    signed_in(member).post(f"/inbox/{request.pk}/answer/", {"answer": "neither"})
    renewed = services.read_request(request.pk).claim_expires_at
    assert until is not None
    assert renewed is not None
    assert renewed > until


def test_sent_twice_is_a_success(member: User, make: Make) -> None:
    request, browser = make(), signed_in(member)
    services.claim_request(request=request, reviewer_id=member.pk)
    done = f"/inbox/{request.pk}/done/?n=1&sent={request.pk}"
    for _ in range(2):
        response = browser.post(f"/inbox/{request.pk}/answer/", {"answer": "yes"}, follow=True)
        assert response.redirect_chain == [(done, 303)]
        assert "Answer sent" in words(response)
    other = browser.post(f"/inbox/{request.pk}/answer/", {"answer": "no"})
    assert other.status_code == 409
    assert "You answered this question" in words(other)
    assert services.read_request(request.pk).response_data == "yes"


def test_whoever_is_late_is_told_who_was_first(owner: User, member: User, make: Make) -> None:
    request = make(response_type="text", response_config={}, default_response="x")
    services.answer_request(request=request, reviewer_id=owner.pk, answer="Mine\ncame first")
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", {"answer": "My <draft>"})
    assert response.status_code == 409
    page = words(response)
    assert "Owner answered this question" in page
    assert "Mine came first" in page
    assert "Your unsent answer It wasn’t sent." in page
    assert "My &lt;draft&gt;" in response.content.decode()
    assert services.read_request(request.pk).response_by_id == owner.pk


def test_while_another_holds_it_no_answer_gets_through(
    owner: User, member: User, make: Make
) -> None:
    request = make(response_config=COLOURS, default_response="red")
    services.claim_request(request=request, reviewer_id=owner.pk)
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", {"answer": "b"})
    assert response.status_code == 409
    page = words(response)
    assert "Owner is on it until" in page
    assert "You can copy it from here. Blue & <i>" in page
    assert services.read_request(request.pk).status == "claimed"


def test_after_the_answer_comes_the_next_question(
    owner: User, member: User, loop: Loop, outsider: User, make: Make
) -> None:
    join_loop(user=outsider, code=loop.invite_code)
    held, answered, following = make(priority="critical"), make(), make(priority="low")
    services.claim_request(request=held, reviewer_id=owner.pk)
    browser = signed_in(member)
    path = f"/inbox/{answered.pk}/"
    assert browser.get(path + "done/").status_code == 404
    response = browser.post(path + "answer/", {"answer": "yes"}, follow=True)
    leads_to = f"/inbox/{following.pk}/?n=1&sent={answered.pk}"
    assert response.redirect_chain == [(leads_to, 303)]
    assert "2 of 2" in words(response)
    assert "Sent: yes" in words(response)
    for other in (owner, outsider):
        assert signed_in(other).get(path + "done/").status_code == 404
        assert "Sent:" not in words(signed_in(other).get(leads_to))
    query = leads_to.partition("?")[2]
    last = browser.post(f"/inbox/{following.pk}/answer/?{query}", {"answer": "no"}, follow=True)
    assert last.redirect_chain == [(f"/inbox/{following.pk}/done/?n=2&sent={following.pk}", 303)]
    assert "2 answers sent You’re all caught up." in words(last)
    assert '<p class="answer-given" dir="auto">no</p>' in last.content.decode()


def test_what_was_skipped_waits_until_the_end(member: User, make: Make) -> None:
    first, second, third = make(priority="critical"), make(priority="high"), make(priority="low")
    browser = signed_in(member)
    page = " ".join(browser.get(f"/inbox/{first.pk}/").content.decode().split())
    skip = f"/inbox/{second.pk}/?skipped={first.pk}"
    assert f'href="{skip}" data-go data-key="skip"' in page
    page = " ".join(browser.get(skip).content.decode().split())
    assert 'data-key="previous"' in page
    assert f'href="/inbox/{third.pk}/?skipped={first.pk}" data-go data-key="following"' in page
    response = browser.post(f"/inbox/{second.pk}/answer/?skipped={first.pk}", {"answer": "no"})
    assert response["Location"].startswith(f"/inbox/{third.pk}/?n=1&skipped={first.pk}&")
    query = response["Location"].partition("?")[2]
    last = browser.post(f"/inbox/{third.pk}/answer/?{query}", {"answer": "no"}, follow=True)
    assert "2 answers sent You skipped 1. It’s still open." in words(last)
    assert f'href="/inbox/{first.pk}/">Next question' in last.content.decode()


@pytest.mark.parametrize("query", ["n=x", "n=99999", "n=%D9%A3", "skipped=a.b..", "sent=x"])
def test_an_odd_address_counts_as_nothing(member: User, make: Make, query: str) -> None:
    request = make()
    response = signed_in(member).get(f"/inbox/{request.pk}/?{query}")
    assert response.status_code == 200
    assert "1 of 1" in words(response)
