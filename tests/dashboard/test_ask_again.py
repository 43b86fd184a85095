"""A new request, filled in like an existing one of any state."""

from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
NEW = "/dashboard/requests/new/"
COPIED = (
    "type", "request_text", "image_url", "priority", "processing_type", "timeout_seconds",
    "response_type", "default_response", "callback_url", "context", "metadata",
)  # fmt: skip
KINDS: list[dict[str, Any]] = [
    {"request_text": "Line\n\n```\n  code\n```", "timeout_seconds": 61, "priority": "critical"},
    {"processing_type": "deferred", "timeout_seconds": 30 * 86_400},
    {"type": "image", "image_url": "https://images.example/cup.png", "timeout_seconds": 7200},
    {"context": {"order": 4821, "list": [1, {"ä": None}]}, "callback_url": "https://a.example/h"},
    {"metadata": {"order": "4821", "ä=b": "one\ntwo"}},
    {
        "response_type": "multi_select",
        "response_config": {
            "options": [{"value": "a", "label": "Option A"}, "b"],
            "max_selections": 2,
            "required": False,
        },
        "default_response": ["a", "b"],
    },
    {
        "response_type": "rating",
        "response_config": {"scale_min": 0, "scale_max": 10, "scale_step": 0.5},
        "default_response": 2.5,
    },
    {
        "response_type": "number",
        "response_config": {"max_value": 1000, "allow_negative": True},
        "default_response": -3,
    },
    {
        "response_type": "text",
        "response_config": {"placeholder": "Dear …", "max_length": 80},
        "default_response": "One\nmoment",
    },
    {
        "response_type": "form",
        "response_config": {
            "schema": {
                "type": "object",
                "properties": {
                    "größe": {"type": "number", "default": 1.5},
                    "note": {"type": "string", "title": "<Note>"},
                },
                "required": ["note"],
            }
        },
        "default_response": {"größe": 0.1, "note": "One\nmoment"},
    },
]


def sent_again(owner: User, request: Request) -> Request:
    """What comes of it if the form is sent as it is shown."""
    browser = signed_in(owner)
    response = browser.get(f"{NEW}?from={request.pk}")
    assert response.status_code == 200
    form = response.context["form"]
    typed = {name: form[name].value() for name in form.fields}
    posted = {name: value for name, value in typed.items() if value not in (None, False)}
    done = browser.post(NEW, posted)
    assert done.status_code == 302, words(done)
    return services.read_request(done["Location"].rstrip("/").rpartition("/")[2])


@pytest.mark.parametrize("changes", KINDS)
def test_it_is_the_same_request(owner: User, make: Make, changes: dict[str, Any]) -> None:
    request = make(**changes)
    again = sent_again(owner, request)
    assert again.pk != request.pk
    for name in COPIED:
        assert getattr(again, name) == getattr(request, name), name
    for name, value in request.response_config.items():
        assert again.response_config[name] == value, name
    assert again.status == "pending"


@pytest.mark.parametrize("state", ["completed", "cancelled", "claimed"])
def test_of_any_state(owner: User, make: Make, state: str) -> None:
    request = make()
    if state == "completed":
        services.answer_request(request=request, reviewer_id=owner.pk, answer="yes")
    elif state == "claimed":
        services.claim_request(request=request, reviewer_id=owner.pk)
    else:
        services.cancel_request(request_id=request.pk, account_id=owner.pk)
    page = signed_in(owner).get(f"/dashboard/requests/{request.pk}/").content.decode()
    assert f'href="{NEW}?from={request.pk}"' in page
    assert sent_again(owner, request).request_text == request.request_text


def test_of_a_deleted_loop(owner: User, make: Make) -> None:
    request = make()
    other: Loop = create_loop(owner_id=owner.pk, name="Other", icon="star")
    services.delete_loop(loop_id=request.loop_id, account_id=owner.pk)
    response = signed_in(owner).get(f"{NEW}?from={request.pk}")
    assert "was deleted. Choose another one." in words(response)
    assert response.context["form"]["loop"].value() == other.pk


def test_what_the_form_cannot_show_is_named(owner: User, make: Make) -> None:
    request = make(
        response_config={"options": [{"value": "a|b", "label": "A"}, "no"], "colour": "red"}
    )
    page = words(signed_in(owner).get(f"{NEW}?from={request.pk}"))
    assert "This form can’t show all of the original: options, colour." in page


def test_nobody_elses(outsider: User, make: Make) -> None:
    browser = signed_in(outsider)
    for each in (make().pk, "x", "%00", "0" * 24):
        assert browser.get(NEW, {"from": each}).status_code == 404
