"""Compares the single read by hand-written SQL with that of the stored request, in every state."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from db.columns import dumps
from db.ids import owned_id
from loops.models import Loop
from reviews import services
from reviews.lifecycle import states
from reviews.models import PLATFORMS, PRIORITIES, Feedback, Request
from reviews.queries import single_read
from reviews.representation import encode, represent_to_creator
from tests.reviews.conftest import Make, let_lease_run_out, make_overdue

pytestmark = pytest.mark.django_db

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | texts
values = st.recursive(leaves, lambda v: st.lists(v) | st.dictionaries(texts, v), max_leaves=8)
objects = st.dictionaries(texts, values, max_size=4)
answers = values.filter(lambda value: value is not None)
moments = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
# Nothing becomes due between the two reads that are compared.
spans = st.timedeltas(timedelta(days=-1), timedelta(minutes=-1)) | st.timedeltas(
    timedelta(hours=1), timedelta(days=40)
)
asked = st.fixed_dictionaries(
    {
        "processing_type": st.sampled_from(["time-sensitive", "deferred"]),
        "type": st.sampled_from(["markdown", "image"]),
        "priority": st.sampled_from(PRIORITIES),
        "request_text": texts,
        "image_url": st.none() | texts,
        "context": st.none() | objects,
        "timeout_seconds": st.integers(60, 2592000),
        "response_type": st.just("text"),
        "response_config": objects,
        "default_response": answers,
        "platform": st.sampled_from(PLATFORMS),
        "platform_version": st.none() | texts,
        "metadata": st.none() | st.dictionaries(texts, texts, min_size=1, max_size=3),
        "callback_url": st.none() | texts.map("https://example.com/{}".format),
        "broadcasted_to": st.integers(1, 10**6),
        "notifications_sent": st.integers(0, 10**6),
        "created_at": moments,
        "updated_at": moments,
    }
)


@st.composite
def lives(draw: st.DrawFn, reviewer: str) -> dict[str, Any]:
    """The columns of a request that went through something."""
    status = draw(st.sampled_from(states.STATUSES))
    columns = {**draw(asked), "status": status}
    columns["timeout_at"] = timezone.now() + draw(spans)
    held = status == states.CLAIMED or (status == states.COMPLETED and draw(st.booleans()))
    if held:
        columns.update(claimed_by_id=reviewer, claimed_at=draw(moments))
    if status == states.CLAIMED:
        columns["claim_expires_at"] = timezone.now() + draw(spans)
    if status == states.COMPLETED:
        columns.update(response_by_id=reviewer, response_at=draw(moments))
        columns["response_comment"] = draw(st.none() | texts)
    if status in (states.COMPLETED, states.TIMEOUT):
        columns["response_data"] = draw(answers)
    return columns


def compare(request_id: str, reader: str) -> None:
    request = services.read_request(request_id)
    stored = represent_to_creator(request)
    if reader != request.creator_id:
        stored.pop("metadata", None)
    assert encode(single_read.read(request_id, user_id=reader)).decode() == dumps(stored)


@given(st.data())
@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_both_reads_agree(owner: User, member: User, loop: Loop, data: st.DataObject) -> None:
    columns = data.draw(lives(member.pk))
    feedback = data.draw(st.none() | objects)
    with transaction.atomic():
        request = Request(id=owned_id(owner.pk), loop=loop, creator=owner, **columns)
        request.save(force_insert=True)
        if feedback is not None:
            Feedback.objects.create(request=request, account=owner, body=feedback)
        for reader in (owner, member):
            compare(request.pk, reader.pk)
        transaction.set_rollback(True)


def test_what_is_due_is_settled_before_it_is_read(make: Make, owner: User, member: User) -> None:
    late, lapsed, both = make(), make(), make()
    for request in (lapsed, both):
        services.claim_request(request=request, reviewer_id=member.pk)
        let_lease_run_out(request)
    make_overdue(late)
    make_overdue(both)
    rows = [single_read.read(r.pk, user_id=owner.pk) for r in (late, lapsed, both)]
    assert [row["status"] for row in rows] == ["timeout", "pending", "timeout"]
    assert [row["claimed_by"] for row in rows] == [None, None, None]
    for request in (late, lapsed, both):
        compare(request.pk, owner.pk)
    stored = dict(Request.objects.values_list("pk", "status"))
    assert stored == {late.pk: "timeout", lapsed.pk: "pending", both.pk: "timeout"}


def test_who_reads(make: Make, member: User, outsider: User) -> None:
    request = make()
    assert single_read.read(request.pk, user_id=member.pk)
    with pytest.raises(single_read.NotVisible):
        single_read.read(request.pk, user_id=outsider.pk)
    with pytest.raises(Request.DoesNotExist):
        single_read.read("0" * 24, user_id=member.pk)
    services.remove_member(
        loop_id=request.loop_id, account_id=request.creator_id, member_id=member.pk
    )
    with pytest.raises(single_read.NotVisible):
        single_read.read(request.pk, user_id=member.pk)
