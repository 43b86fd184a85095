"""The page of an approval: the proposed call, and the ways to decide about it."""

import html
import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db

ARGUMENTS: dict[str, Any] = {
    "order": 4821,
    "amount": 129.5,
    "note": "Sorry!\nYours",
    "notify": True,
    "tags": ["vip", "late"],
}
REFUND: dict[str, Any] = {
    "response_type": "approval",
    "response_config": {
        "proposal": {
            "name": "issue_refund",
            "arguments": ARGUMENTS,
            "title": "Refund order 4821",
            "risk": "high",
        },
        "actions": ["approve", "edit", "reject", "respond"],
    },
    "default_response": {"action": "reject"},
}
FIELDS = {
    "answer.edit.0": "4821",
    "answer.edit.1": "129.5",
    "answer.edit.2": "Sorry!\r\nYours",
    "answer.edit.3": "true",
    "answer.edit.4": '[\r\n  "vip",\r\n  "late"\r\n]',
}


@pytest.fixture
def refund(make: Make) -> Request:
    return make(**REFUND)


@pytest.fixture
def browser(member: User) -> Client:
    return signed_in(member)


def post(browser: Client, request: Request, **answer: str) -> Any:
    typed = {name.replace("_", "."): value for name, value in answer.items()}
    return browser.post(f"/inbox/{request.pk}/answer/", typed)


def send(browser: Client, request: Request, answer: str, **changes: str) -> Any:
    """Presses a button of the form, with the fields as they are shown except for the changes."""
    changed = {f"answer.edit.{name[1:]}": value for name, value in changes.items()}
    return browser.post(f"/inbox/{request.pk}/answer/", {**FIELDS, **changed, "answer": answer})


def stored(request: Request) -> Any:
    return services.read_request(request.pk).response_data


def find_button(page: Any, label: str) -> str:
    """Returns the value of the button with the label."""
    buttons = re.findall(
        r'<button[^>]*value="([^"]*)"[^>]*>(.*?)</button>', page.content.decode(), re.S
    )
    found: list[str] = [value for value, text in buttons if label in " ".join(text.split())]
    return found[0]


def test_the_call_is_a_table(browser: Client, refund: Request) -> None:
    page = browser.get(f"/inbox/{refund.pk}/")
    text = words(page)
    assert "Refund order 4821 High risk" in text
    assert "issue_refund" in text
    for name in ARGUMENTS:
        assert f'<th scope="row" role="rowheader"><code dir="auto">{name}</code></th>' in (
            page.content.decode()
        )
    assert '<div class="given" dir="auto">Sorry!\nYours</div>' in page.content.decode()
    for label in ("Approve", "Edit and approve", "Reject", "Reply"):
        assert label in text
    assert "If nobody answers in time: Rejected" in text
    # the buttons wait until the whole call was on the screen
    (question, proposal) = page.content.decode().split('class="card proposal"')
    assert "data-question-end" not in question
    assert proposal.count("data-question-end") == 1


def test_only_offered_actions(browser: Client, make: Make) -> None:
    config = {"proposal": {"name": "restart"}}
    request = make(**{**REFUND, "response_config": config})
    text = words(browser.get(f"/inbox/{request.pk}/"))
    assert "It has no arguments." in text
    assert "Edit and approve" not in text
    assert "Reply" not in text
    assert "risk" not in text


def test_an_approval(browser: Client, refund: Request) -> None:
    response = send(browser, refund, "approve")
    assert response.status_code == 303
    assert stored(refund) == {"action": "approve", "edited": [], "arguments": ARGUMENTS}
    assert "Approved" in words(browser.get(response.url))
    assert "Approved" in words(browser.get(f"/inbox/{refund.pk}/"))


def test_a_rejection_with_a_reason(browser: Client, refund: Request) -> None:
    post(browser, refund, answer="reject", answer_reject="Too much.\r\nAsk Ada.")
    assert stored(refund) == {"action": "reject", "message": "Too much.\nAsk Ada."}
    assert "Rejected: Too much." in words(browser.get(f"/inbox/{refund.pk}/"))


def test_a_reply(browser: Client, refund: Request) -> None:
    refused = post(browser, refund, answer="respond", answer_respond=" ")
    assert refused.status_code == 422
    assert "Write a message" in words(refused)
    post(browser, refund, answer="respond", answer_respond="Which order?")
    assert stored(refund) == {"action": "respond", "message": "Which order?"}


def test_an_edit_is_shown_before_it_is_sent(browser: Client, refund: Request) -> None:
    shown = send(browser, refund, "edit", _1="99.5", _2="Sorry!\r\nAda")
    assert shown.status_code == 200
    assert stored(refund) is None
    text = words(shown)
    assert "Check your changes amount Before 129.5 After 99.5" in text
    assert "note Before Sorry! Yours After Sorry! Ada" in text
    button = find_button(shown, "Approve with changes")
    assert send(browser, refund, button, _1="99.5", _2="Sorry!\r\nAda").status_code == 303
    assert stored(refund) == {
        "action": "edit",
        "edited": ["amount", "note"],
        "arguments": {**ARGUMENTS, "amount": 99.5, "note": "Sorry!\nAda"},
    }
    page = words(browser.get(f"/inbox/{refund.pk}/"))
    assert "Approved with changes: amount, note" in page
    assert "amount Before 129.5 After 99.5" in page


def test_what_changed_since_it_was_shown_is_shown_again(browser: Client, refund: Request) -> None:
    button = find_button(send(browser, refund, "edit", _1="99.5"), "Approve with changes")
    again = send(browser, refund, button, _1="199.5")
    assert "Before 129.5 After 199.5" in words(again)
    assert stored(refund) is None


def test_an_edit_without_a_difference_approves(browser: Client, refund: Request) -> None:
    assert send(browser, refund, "edit").status_code == 303
    assert stored(refund) == {"action": "approve", "edited": [], "arguments": ARGUMENTS}


def test_unticking_every_choice_is_an_edit(browser: Client, make: Make) -> None:
    field = {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}
    proposal = {
        "name": "paint",
        "arguments": {"colours": ["red"]},
        "schema": {"type": "object", "properties": {"colours": field}},
    }
    config = {"proposal": proposal, "actions": ["approve", "edit"]}
    request = make(**{**REFUND, "response_config": config})
    sent = post(browser, request, answer="edit")  # a browser posts no checkbox that is not ticked
    assert stored(request) is None
    assert "Check your changes" in words(sent)
    shown = browser.get(f"/inbox/{request.pk}/").content.decode()
    assert '<input type="hidden" name="answer.edit" value="">' in shown
    sent = post(browser, request, answer="approve", answer_edit="")
    assert sent.status_code == 422
    assert stored(request) is None


def test_an_edit_without_its_fields_approves_nothing(browser: Client, refund: Request) -> None:
    assert post(browser, refund, answer="edit").status_code == 422
    assert stored(refund) is None


def test_approve_forgets_no_edit(browser: Client, refund: Request) -> None:
    page = send(browser, refund, "approve", _1="99.5")
    assert page.status_code == 422
    assert "You changed amount. Approve it with the changes, or undo them" in words(page)
    assert 'value="99.5"' in page.content.decode()
    assert stored(refund) is None


def test_errors_stand_beside_their_fields(browser: Client, refund: Request) -> None:
    page = send(browser, refund, "edit", _0="4821.5", _1="much", _3="perhaps", _4="{")
    assert page.status_code == 422
    html = page.content.decode()
    for place, sentence in (
        ("0", "Enter a whole number"),
        ("1", "Enter a number in plain digits, like 5 or -3.25"),
        ("3", "Choose yes or no"),
        ("4", "Line 1 is not JSON"),
    ):
        assert re.search(rf'id="answer-edit-{place}-error" role="alert">\s*{sentence}', html)
    assert html.count("autofocus") == 1
    assert 'value="4821.5"' in html
    assert 'value="much"' in html
    assert stored(refund) is None


def test_a_value_that_is_left_stays_as_it_was(browser: Client, make: Make) -> None:
    arguments = {"text": "a\r\nb\rc", "tiny": 1e-300, "deep": {"a": [1.0, "\u2028"]}, "n": 1}
    config = {"proposal": {"name": "x", "arguments": arguments}, "actions": ["approve", "edit"]}
    request = make(**{**REFUND, "response_config": config})
    page = browser.get(f"/inbox/{request.pk}/").content.decode()
    assert "‹U+2028›" in page
    typed = {
        "answer": "edit",
        "answer.edit.0": "a\r\nb\r\nc",
        "answer.edit.1": f"{1e-300:.300f}",
        "answer.edit.2": '{\r\n  "a": [\r\n    1.0,\r\n    "\u2028"\r\n  ]\r\n}',
        "answer.edit.3": "2",
    }
    shown = browser.post(f"/inbox/{request.pk}/answer/", typed)
    typed["answer"] = find_button(shown, "Approve with changes")
    browser.post(f"/inbox/{request.pk}/answer/", typed)
    assert stored(request) == {
        "action": "edit",
        "edited": ["n"],
        "arguments": {**arguments, "n": 2},
    }


@pytest.mark.parametrize(
    "moment",
    [
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-12:00",
    ],
)
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_moments_at_the_ends_of_the_calendar(
    member: User, make: Make, zone: str, moment: str
) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
    proposal = {"name": "x", "arguments": {"at": moment, "n": 1}, "schema": schema}
    config = {"proposal": proposal, "actions": ["approve", "edit"]}
    request = make(**{**REFUND, "response_config": config})
    User.objects.filter(pk=member.pk).update(time_zone=zone)
    browser = signed_in(member)
    page = browser.get(f"/inbox/{request.pk}/").content.decode()
    found = re.search(r'name="answer\.edit\.0"[^>]*?value="([^"]*)"', page)
    assert found
    typed = {"answer": "edit", "answer.edit.0": html.unescape(found[1]), "answer.edit.1": "2"}
    shown = browser.post(f"/inbox/{request.pk}/answer/", typed)
    typed["answer"] = find_button(shown, "Approve with changes")
    browser.post(f"/inbox/{request.pk}/answer/", typed)
    assert stored(request)["arguments"] == {"at": moment, "n": 2}


def test_a_name_that_occurs_twice(browser: Client, make: Make) -> None:
    config = {"proposal": {"name": "x", "arguments": {"p": {"n": 1}}}, "actions": ["edit"]}
    request = make(**{**REFUND, "response_config": config})
    typed = {"answer": "edit", "answer.edit.0": '{"n": 99, "n": 2}'}
    refused = browser.post(f"/inbox/{request.pk}/answer/", typed)
    assert refused.status_code == 422
    assert "The name n occurs twice" in words(refused)
    assert stored(request) is None


def test_numbers_in_german(member: User, refund: Request) -> None:
    browser = signed_in(member)
    browser.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    assert 'value="129,5"' in browser.get(f"/inbox/{refund.pk}/").content.decode()
    send(browser, refund, "approve", _1="129,5")
    assert stored(refund)["action"] == "approve"


def test_what_is_not_posted_stays(browser: Client, refund: Request) -> None:
    assert post(browser, refund, answer="approve").status_code == 303
    assert stored(refund)["arguments"] == ARGUMENTS


@pytest.mark.parametrize("answer", ["", "deny", "edit.x.y", "approve.", "timeout"])
def test_no_action(browser: Client, refund: Request, answer: str) -> None:
    response = send(browser, refund, answer)
    expected = {"edit.x.y": 303, "approve.": 303}.get(answer, 422)
    assert response.status_code == expected


def test_a_late_answer_keeps_what_was_typed(browser: Client, owner: User, refund: Request) -> None:
    send(signed_in(owner), refund, "approve")
    late = send(browser, refund, "edit", _1="99.5")
    assert late.status_code == 409
    assert "amount: 99.5" in words(late)
    assert "order: 4821" not in words(late)
    late = send(browser, refund, "edit", _0="4822")
    assert "order: 4822" in words(late)
    assert "amount: 129.5" not in words(late)


def test_words_stay_beside_their_error(browser: Client, refund: Request) -> None:
    for action in ("reject", "respond"):
        page = browser.post(
            f"/inbox/{refund.pk}/answer/",
            {"answer": action, f"answer.{action}": "Kept words. " + "x" * 10_000},
        )
        assert page.status_code == 422
        assert "The message must have at most 10000 characters" in words(page)
        assert "Kept words." in page.content.decode()
    assert stored(refund) is None


def test_an_edit_without_a_difference_has_none_to_check(
    browser: Client, loop: Loop, refund: Request
) -> None:
    Loop.objects.filter(pk=loop.pk).update(comment_required_for=["approve"])
    page = send(browser, refund, "edit")
    assert page.status_code == 422
    assert "Check your changes" not in words(page)


def test_a_long_text_is_folded(browser: Client, make: Make) -> None:
    arguments = {"body": "word " * 2000, "lines": "\n".join("abcdefghijkl"), "to": {"a": {"b": 1}}}
    config = {"proposal": {"name": "send", "arguments": arguments}}
    request = make(**{**REFUND, "response_config": config})
    text = words(browser.get(f"/inbox/{request.pk}/"))
    assert "10,000 characters" in text
    assert "23 characters" in text
    assert "1 field" in text


def test_256_kilobytes(browser: Client, make: Make) -> None:
    arguments = {"text": "ü\n" * 60_000}
    config = {"proposal": {"name": "x", "arguments": arguments}, "actions": ["approve", "edit"]}
    request = make(**{**REFUND, "response_config": config})
    typed = {"answer": "edit", "answer.edit.0": "ü\r\n" * 60_000}
    assert browser.post(f"/inbox/{request.pk}/answer/", typed).status_code == 303
    assert stored(request)["action"] == "approve"


def test_names_and_titles_hide_nothing(browser: Client, make: Make) -> None:
    """Invisible characters are written out wherever the page names something of the call."""
    turned = "x\u202ey"
    field = {
        "type": "string",
        "title": turned,
        "description": turned,
        "enum": ["a", "b"],
        "enumNames": [turned, "B"],
    }
    proposal = {
        "name": turned,
        "title": turned,
        "arguments": {turned: 1, "reason": "a"},
        "schema": {"type": "object", "properties": {"reason": field}},
    }
    config = {"proposal": proposal, "actions": ["approve", "edit"]}
    request = make(**{**REFUND, "response_config": config})
    fresh = browser.get(f"/inbox/{request.pk}/")
    assert 'data-field="x‹U+202E›y"' in fresh.content.decode()
    wrong = post(browser, request, answer="edit", answer_edit_0="much", answer_edit_1="b")
    typed = {"answer.edit.0": "2", "answer.edit.1": "b"}
    refused = browser.post(f"/inbox/{request.pk}/answer/", {**typed, "answer": "approve"})
    assert "You changed x‹U+202E›y, reason." in words(refused)
    shown = browser.post(f"/inbox/{request.pk}/answer/", {**typed, "answer": "edit"})
    typed["answer"] = find_button(shown, "Approve with changes")
    sent = browser.post(f"/inbox/{request.pk}/answer/", typed)
    done = browser.get(f"/inbox/{request.pk}/")
    assert "Approved with changes: x‹U+202E›y, reason" in words(done)
    for page in (fresh, wrong, refused, shown, sent, done):
        assert "\u202e" not in page.content.decode()
