"""Compares single reads, rows of lists and events with those recorded in `recorded/`, byte by byte.

Clients rely on the order of the keys and the spelling of every value.
`UPDATE_RECORDED=1 make test ARGS=tests/reviews/test_recorded.py` records them anew: do that only
where the contract has changed.
"""

import itertools
import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services, tasks
from reviews.models import Feedback, Request
from reviews.queries import listing, single_read
from reviews.representation import encode
from tests.reviews.conftest import FIELDS, acting, let_lease_run_out, make_overdue
from webhooks.models import Delivery, LoggedEvent

pytestmark = pytest.mark.django_db

FOLDER = Path(__file__).parent / "recorded"
OWNER, MEMBER, LOOP = (f"{digit * 21}abc" for digit in "123")
MOMENT = re.compile(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"')
SECONDS = re.compile(r'"response_time_seconds":\d+(\.\d{1,3})?(?=,)')
MADE = datetime(2026, 1, 2, 3, 4, 5, 678_900, UTC)
HOOK = "https://user:pw@receiver.example:8443/hook?x=1"
AWKWARD = 'Größe ✓ "quoted" \\ / \t\r\n\b\f\x1f\x7f\u2028 </script> 😀'

# By response type: its configuration, the default, an answer, and a comment.
KINDS: dict[str, tuple[dict[str, Any], Any, Any, str]] = {
    "single_select": ({"options": ["yes", {"value": "no", "label": "No"}]}, "no", "yes", ""),
    "multi_select": ({"options": ["a", "b", "c"], "max_selections": 2}, ["a"], ["c", "a"], "Why"),
    "text": ({"max_length": 500}, "-", AWKWARD, ""),
    "rating": ({"scale_min": 1, "scale_max": 5}, 1, 4, AWKWARD),
    "number": ({"min_value": 0, "max_value": 1e300, "decimal_places": 2}, 0, 2.5, ""),
}
# By what has happened to a request: the columns that say so.
STATES: dict[str, dict[str, Any]] = {
    "pending": {},
    "claimed": {
        "status": "claimed",
        "claimed_by_id": MEMBER,
        "claimed_at": MADE + timedelta(seconds=7),
        "claim_expires_at": datetime(2099, 1, 1, tzinfo=UTC),
    },
    "completed": {
        "status": "completed",
        "response_by_id": MEMBER,
        "response_at": MADE + timedelta(seconds=12, microseconds=345_678),
        "claimed_by_id": MEMBER,
        "claimed_at": MADE + timedelta(seconds=7),
    },
    "completed in whole seconds": {
        "status": "completed",
        "response_by_id": MEMBER,
        "response_at": MADE + timedelta(days=2),
    },
    "timeout": {"status": "timeout", "timeout_at": MADE + timedelta(seconds=600)},
    "cancelled": {"status": "cancelled"},
    "completed, without its texts": {
        "status": "completed",
        "response_by_id": MEMBER,
        "response_at": MADE + timedelta(milliseconds=1),
        "request_text": "",
        "context": None,
        "texts_removed_at": MADE + timedelta(days=30),
    },
}
CONTEXT: dict[str, Any] = {
    AWKWARD: [
        AWKWARD,
        None,
        True,
        0,
        -0.0,
        1.0,
        1.10,
        1e308,
        5e-324,
        10**20,
        {},
        [],
        {"z": {"a": 1}},
    ]
}


def compare(name: str, found: Any) -> None:
    """Compares with the recorded file, or records it."""
    path = FOLDER / f"{name}.json"
    if os.environ.get("UPDATE_RECORDED"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(path.read_text())


@pytest.fixture
def loop(db: None) -> Loop:
    """A loop, its owner and a member, with ids that are the same in every run."""
    for pk, name in ((OWNER, "Owner"), (MEMBER, "Mémber “M”")):
        user = User.objects.create(pk=pk, email=f"{pk[0]}@example.com", name=name)
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    made = create_loop(owner_id=OWNER, name=AWKWARD, icon="star", loop_id=LOOP)
    join_loop(user=User.objects.get(pk=MEMBER), code=made.invite_code)
    return made


def store(number: int, kind: str, columns: dict[str, Any]) -> Request:
    """Stores a request as it stands after something has happened to it."""
    config, default, answer, comment = KINDS[kind]
    request = Request(
        id=f"{number:021d}abc",
        loop_id=LOOP,
        creator_id=OWNER,
        **{
            **FIELDS,
            "request_text": AWKWARD,
            "response_type": kind,
            "response_config": config,
            "default_response": default,
            "context": CONTEXT if number % 2 else None,
            "callback_url": HOOK if number % 3 else None,
            "image_url": "https://images.example/ß.png" if number % 2 else None,
            "platform_version": AWKWARD if number % 3 else None,
            "broadcasted_to": 2,
            "notifications_sent": number,
            "timeout_at": datetime(2099, 1, 1, 0, 0, 0, 999_999, UTC),
            "created_at": MADE,
            "updated_at": MADE + timedelta(seconds=number),
            **columns,
        },
    )
    if request.status == "completed":
        request.response_data, request.response_comment = answer, comment or None
    if request.status == "timeout":
        request.response_data = default
    request.save(force_insert=True)
    return request


def test_what_is_read(loop: Loop) -> None:
    """Single reads by the creator and by a member, and rows of lists, of every type and state."""
    rows = [
        store(number, kind, columns)
        for number, (kind, columns) in enumerate(itertools.product(KINDS, STATES.values()))
    ]
    feedback = {"rating": 5, "comment": AWKWARD, "z": CONTEXT}
    Feedback.objects.create(request=rows[2], account_id=OWNER, body=feedback)
    User.objects.filter(pk=MEMBER).update(name=AWKWARD)
    for reader, name in ((OWNER, "creator"), (MEMBER, "member")):
        read = [encode(single_read.read(row.pk, user_id=reader)).decode() for row in rows]
        compare(f"reads-{name}", read)
    page = listing.ListParams(None, None, "created_at_asc", len(rows), 0)
    entries = listing.fetch(listing.scope_to_account(OWNER), page).entries
    compare("list", [encode(entry).decode() for entry in entries])
    ids = [row.pk for row in rows]
    read = [encode(single_read.read(pk, user_id=OWNER)).decode() for pk in ids]
    assert single_read.read_many_as_json(ids, user_id=OWNER) == read


def answer_it(request: Request) -> None:
    _, _, answer, comment = KINDS[request.response_type]
    services.answer_request(request=request, reviewer_id=MEMBER, answer=answer, comment=comment)


def claim_it(request: Request) -> None:
    services.claim_request(request=request, reviewer_id=MEMBER)


def claim_and_answer_it(request: Request) -> None:
    claim_it(request)
    answer_it(request)


def claim_it_twice(request: Request) -> None:
    claim_it(request)
    let_lease_run_out(request)
    tasks.release_lapsed()
    services.claim_request(request=request, reviewer_id=OWNER)
    services.release_claim(request=request, reviewer_id=OWNER)


def let_it_time_out(request: Request) -> None:
    make_overdue(request)
    tasks.settle_overdue()


def claim_it_and_let_it_time_out(request: Request) -> None:
    claim_it(request)
    let_it_time_out(request)


def cancel_it(request: Request) -> None:
    trace = f"00-{'1' * 32}-{'2' * 16}-01"
    services.cancel_request(request_id=request.pk, account_id=OWNER, traceparent=trace)


def delete_the_loop(request: Request) -> None:
    claim_it(request)
    services.delete_loop(loop_id=LOOP, account_id=OWNER)


def answer_it_unconfirmed(request: Request) -> None:
    EmailAddress.objects.filter(user_id=MEMBER).update(verified=False)
    answer_it(request)


# The last two change the member and the loop.
HAPPENINGS: list[Callable[[Request], None]] = [
    answer_it, claim_and_answer_it, claim_it_twice, let_it_time_out, claim_it_and_let_it_time_out,
    cancel_it, answer_it_unconfirmed, delete_the_loop,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("url", [HOOK, None], ids=["with a URL", "without a URL"])
def test_what_events_say(loop: Loop, kind: str, url: str | None) -> None:
    """The bodies of events, of every type and transition, in the log and in the outbox."""
    config, default, _, _ = KINDS[kind]
    fields = {
        **FIELDS, "response_type": kind, "response_config": config, "default_response": default,
        "request_text": AWKWARD, "context": CONTEXT, "callback_url": url,
        "platform_version": AWKWARD,
    }  # fmt: skip
    account = acting(User.objects.get(pk=OWNER))
    happened = {}
    for number, happen in enumerate(HAPPENINGS):
        created = services.create_request(
            loop_id=LOOP, account=account, fields=fields, request_id=f"{number:021d}abc"
        )
        happen(services.read_request(created.pk))
        rows = LoggedEvent.objects.filter(pk__startswith=created.pk[:12]).order_by("pk")
        happened[happen.__name__] = [read_event(row) for row in rows]
        rows.delete()  # the next request's begin alike
    compare(f"events-{kind}{'' if url else '-without-url'}", happened)


def read_event(event: LoggedEvent) -> list[str]:
    """Reads an event with its delivery; what differs between two runs is masked."""
    columns = ("event", "subject_id", "occurrence", "url", "host", "state", "traceparent")
    delivery = Delivery.objects.filter(pk=event.pk).first()
    row = json.dumps([getattr(delivery, name) for name in columns]) if delivery else "none"
    body = event.body or (delivery and delivery.body)
    text = MOMENT.sub('"<time>"', bytes(body or b"").decode())
    return [event.name, event.pk, row, SECONDS.sub('"response_time_seconds":<seconds>', text)]
