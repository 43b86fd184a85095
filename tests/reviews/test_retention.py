"""Finished requests and their texts go after the days that their loop keeps them."""

import threading
import time
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from config import variables
from loops.models import Loop
from loops.retention import MIN_DAYS
from loops.services import create_loop
from outbox.schedule import longest
from reviews import counters, retention, services, tasks
from reviews.models import Feedback, Notification, Request, RequestWords, Viewer
from reviews.queries import search
from reviews.viewers import record_opened
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, acting, make_overdue
from webhooks import event_log
from webhooks.channel import DELAYS
from webhooks.models import Attempt, Delivery, LoggedEvent

FAR = 10.0  # seconds of a run
HOOK = "http://127.0.0.1:9/"
CHOICES = {"rating": 4.5, "would_recommend": False, "category": "issue"}
FEEDBACK = {**CHOICES, "comment": "Ada was right.", "tags": ["Ada"], "customer": "Ada"}


def prune() -> int:
    return retention.prune(until=time.monotonic() + FAR)


def let_pass(days: int) -> None:
    """Moves every request, and its deliveries, into the past."""
    ago = timedelta(days=days)
    Request.objects.update(
        created_at=F("created_at") - ago,
        updated_at=F("updated_at") - ago,
        timeout_at=F("timeout_at") - ago,
        response_at=F("response_at") - ago,
    )
    Delivery.objects.update(created_at=F("created_at") - ago)


def ended_in_every_way(make: Make, member: User, **changes: Any) -> dict[str, Request]:
    """An answered, a timed-out, a cancelled and an open request."""
    found = {name: make(**changes) for name in ("completed", "timeout", "cancelled", "pending")}
    services.answer_request(
        request=found["completed"], reviewer_id=member.pk, answer="yes", comment="For Ada."
    )
    make_overdue(found["timeout"])
    tasks.settle_overdue()
    services.cancel_request(
        request_id=found["cancelled"].pk, account_id=found["timeout"].creator_id
    )
    return found


def left() -> set[str]:
    return set(Request.objects.values_list("status", flat=True))


def tables_with(word: str) -> set[str]:
    """The tables that have a word anywhere, also in bytes."""
    with connection.cursor() as cursor:
        found = set()
        for table in connection.introspection.table_names(cursor):
            cursor.execute(
                f'SELECT EXISTS (SELECT FROM "{table}" t WHERE t::text ILIKE ANY (%s))',
                [[f"%{word}%", f"%{word.encode().hex()}%"]],
            )
            if cursor.fetchone()[0]:
                found.add(table)
    return found


class TestRequests:
    def test_by_default_nothing_goes(self, make: Make, member: User) -> None:
        ended_in_every_way(make, member)
        let_pass(9_000)
        assert prune() == 0
        assert len(left()) == 4

    def test_finished_ones_go_with_all_that_is_theirs(
        self, make: Make, member: User, settings: Settings, outsider: User
    ) -> None:
        settings.KEEP_REQUESTS_DAYS = 30
        found = ended_in_every_way(make, member, callback_url="http://127.0.0.1:9/")
        gone, kept = found["completed"], found["pending"]
        for request in (gone, kept):
            record_opened(request, member.pk)
            for channel in ("push", "mail"):
                Notification.objects.create(
                    account_id=request.creator_id, request=request, recipient=outsider,
                    channel=channel, next_attempt_at=timezone.now(),
                    subscription_id="s" * 24 if channel == "push" else None,
                )  # fmt: skip
        services.add_feedback(request=gone, feedback={"rating": 5})
        Delivery.objects.update(state="dead")
        for delivery in Delivery.objects.all():
            Attempt.objects.create(account_id=delivery.account_id, delivery=delivery)
        let_pass(31)
        Request.objects.filter(pk=kept.pk).update(timeout_at=Now() + timedelta(days=1))
        assert prune() == 3
        assert left() == {"pending"}
        for model in (Viewer, Notification, RequestWords):
            rows: Any = model._default_manager.values_list("request_id", flat=True)
            assert set(rows) == {kept.pk}
        assert not Feedback.objects.exists()
        assert not Delivery.objects.exists()
        assert not Attempt.objects.exists()

    def test_the_days_count_from_the_end(
        self, make: Make, member: User, settings: Settings
    ) -> None:
        settings.KEEP_REQUESTS_DAYS = 30
        ended_in_every_way(make, member)
        let_pass(29)
        Request.objects.update(created_at=Now() - timedelta(days=59))
        assert prune() == 0
        let_pass(2)
        assert prune() == 3

    def test_totals_are_those_of_what_is_left(
        self, make: Make, member: User, owner: User, owner_key: str, api: type[Api],
        settings: Settings,
    ) -> None:  # fmt: skip
        settings.KEEP_REQUESTS_DAYS = 4
        found = ended_in_every_way(make, member)
        let_pass(5)
        Request.objects.filter(status="pending").update(timeout_at=Now() + timedelta(days=1))
        assert prune() == 3
        client = api(owner_key)
        assert client.get("/v1/api/requests").json()["data"]["total"] == 1
        assert client.get("/v1/api/requests?status=completed").json()["data"]["total"] == 0
        counters.aggregate()
        assert counters.find_differences() == []
        response = client.get(f"/v1/api/requests/{found['completed'].pk}")
        assert (response.status_code, response.json()["msg"]) == (404, "Request not found")
        feedback = {"feedback": {"rating": 3}}
        path = f"/v1/api/requests/{found['completed'].pk}/feedback"
        assert client.post(path, feedback).status_code == 404

    def test_one_whose_webhook_waits_stays(
        self, make: Make, member: User, settings: Settings
    ) -> None:
        settings.KEEP_REQUESTS_DAYS = settings.KEEP_TEXTS_DAYS = 4
        request = make(callback_url="http://127.0.0.1:9/")
        services.claim_request(request=request, reviewer_id=member.pk)
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
        Delivery.objects.filter(event="request.completed").update(state="dead")
        let_pass(5)
        assert prune() == 0
        Delivery.objects.update(state="dead")
        assert prune() == 1
        assert not Delivery.objects.exists()

    def test_batches(
        self, make: Make, member: User, settings: Settings,
        django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        settings.KEEP_REQUESTS_DAYS = 4
        ended_in_every_way(make, member)
        let_pass(5)
        transaction_, due, locked, removed = 2, 1, 1, len(retention._REMOVE)
        with django_assert_num_queries(1 + transaction_ + due + locked + removed):
            assert prune() == 3
        with django_assert_num_queries(1):
            assert prune() == 0
        assert retention.prune(until=time.monotonic()) == 0

    def test_feedback_on_one_that_has_just_gone(self, make: Make, member: User) -> None:
        request = ended_in_every_way(make, member)["completed"]
        with transaction.atomic():
            retention.remove_requests(request.creator_id, [(request.pk, 0)])
        with pytest.raises(Request.DoesNotExist):
            services.add_feedback(request=request, feedback={"rating": 5})


class TestTexts:
    def test_they_go_and_the_rest_stays(
        self, make: Make, member: User, owner: User, owner_key: str, api: type[Api],
        settings: Settings,
    ) -> None:  # fmt: skip
        settings.KEEP_TEXTS_DAYS = 10
        found = ended_in_every_way(
            make, member, type="image", image_url="https://x.example/a.png",
            context={"customer": "Ada"}, callback_url="http://127.0.0.1:9/",
            metadata={"customer": "Ada"},
        )  # fmt: skip
        answered = found["completed"]
        services.add_feedback(request=answered, feedback=FEEDBACK)
        Delivery.objects.update(state="dead")
        let_pass(11)
        Request.objects.filter(status="pending").update(timeout_at=Now() + timedelta(days=1))
        before = api(owner_key).get(f"/v1/api/requests/{answered.pk}").json()["data"]["request"]
        assert before["texts_removed_at"] is None
        filtered = "/v1/api/requests?metadata[customer]=Ada"
        assert api(owner_key).get(filtered).json()["data"]["total"] == 4
        assert prune() == 3
        assert api(owner_key).get(filtered).json()["data"]["total"] == 1
        after = api(owner_key).get(f"/v1/api/requests/{answered.pk}").json()["data"]["request"]
        assert before.pop("metadata") == {"customer": "Ada"}
        assert "metadata" not in after
        changed = {name for name in after if after[name] != before[name]}
        assert changed == {
            "request_text", "image_url", "context", "response_comment", "texts_removed_at",
            "feedback",
        }  # fmt: skip
        assert after["request_text"] == ""
        assert after["image_url"] is after["context"] is after["response_comment"] is None
        assert after["response_data"] == "yes"
        assert before["feedback"] == FEEDBACK
        assert after["feedback"] == CHOICES
        assert not Delivery.objects.exists()
        assert list(RequestWords.objects.values_list("request_id")) == [(found["pending"].pk,)]
        rows = search.find_newest(
            Request.objects.all(), account_id=owner.pk, typed="refund", count=9
        )
        assert [row.pk for row in rows] == [found["pending"].pk]
        counters.aggregate()
        assert counters.find_differences() == []
        assert prune() == 0

    def test_feedback_that_comes_later_has_none(
        self, make: Make, member: User, owner_key: str, api: type[Api], settings: Settings
    ) -> None:
        settings.KEEP_TEXTS_DAYS = 10
        found = ended_in_every_way(make, member)
        let_pass(11)
        assert prune() == 3
        path = f"/v1/api/requests/{found['completed'].pk}"
        response = api(owner_key).post(f"{path}/feedback", {"feedback": FEEDBACK})
        assert response.json()["data"]["feedback"] == CHOICES
        read = api(owner_key).get(path).json()["data"]["request"]
        assert read["feedback"] == CHOICES

    @pytest.mark.django_db(transaction=True)
    def test_feedback_of_before_loses_them_by_the_migration(
        self, make: Make, member: User, settings: Settings
    ) -> None:
        settings.KEEP_TEXTS_DAYS = 10
        kept, gone = (ended_in_every_way(make, member)["completed"] for _ in range(2))
        for request in (kept, gone):
            services.add_feedback(request=request, feedback=FEEDBACK)
        Request.objects.filter(pk=gone.pk).update(texts_removed_at=Now())
        migration = import_module("reviews.migrations.0018_texts_of_feedback").Migration
        with connection.schema_editor(atomic=False) as editor:
            migration.operations[-1].database_forwards("reviews", editor, None, None)
        bodies = dict(Feedback.objects.values_list("request_id", "body"))
        assert bodies == {kept.pk: FEEDBACK, gone.pk: CHOICES}

    def test_feedback_that_is_all_text(
        self, make: Make, member: User, loop: Loop, settings: Settings
    ) -> None:
        """By the loop's own setting."""
        Loop.objects.filter(pk=loop.pk).update(keep_texts_days=5)
        found = ended_in_every_way(make, member)
        services.add_feedback(request=found["completed"], feedback={"comment": "Ada again."})
        let_pass(6)
        assert prune() == 3
        assert Feedback.objects.get().body == {}

    def test_nothing_typed_is_left_in_any_table(
        self, make: Make, member: User, settings: Settings
    ) -> None:
        settings.KEEP_TEXTS_DAYS = 10
        word = "zanzibar"
        request = make(
            request_text=f"Ship to {word}?", context={"to": word}, default_response=word,
            metadata={word: word}, response_type="text", response_config={}, callback_url=HOOK,
            type="image", image_url=f"https://x.example/{word}.png",
        )  # fmt: skip
        services.claim_request(request=request, reviewer_id=member.pk)
        services.answer_request(
            request=request, reviewer_id=member.pk, answer=f"{word}!", comment=word
        )
        feedback = {"comment": word, "tags": [word], "model": {"said": word}}
        services.add_feedback(request=request, feedback=feedback)
        assert tables_with(word) >= {
            "reviews_request", "reviews_feedback", "webhooks_delivery", "reviews_requestwords",
        }  # fmt: skip
        Delivery.objects.update(state="dead")
        let_pass(11)
        LoggedEvent.objects.update(created_at=F("created_at") - timedelta(days=11))
        assert prune() == 1
        event_log.forget_old()
        assert tables_with(word) == set()

    def test_text_answers_are_texts(self, make: Make, member: User, settings: Settings) -> None:
        settings.KEEP_TEXTS_DAYS = 10
        request = make(response_type="text", response_config={}, default_response="Dear Ada")
        services.answer_request(request=request, reviewer_id=member.pk, answer="Dear Ada, no.")
        let_pass(11)
        assert prune() == 1
        stored = Request.objects.get()
        assert (stored.default_response, stored.response_data) == ("", "")
        assert stored.format_answer(stored.response_data) == "Text removed"

    def test_answers_and_defaults_of_forms_are_texts(
        self, make: Make, owner: User, member: User, settings: Settings
    ) -> None:
        settings.KEEP_TEXTS_DAYS = 10
        field = {"type": "string", "default": "Dear Ada"}
        request = make(
            response_type="form",
            response_config={"schema": {"type": "object", "properties": {"reply": field}}},
            default_response={"reply": "Dear Ada"},
        )
        services.answer_request(
            request=request, reviewer_id=member.pk, answer={"reply": "Dear Ada, no."}
        )
        let_pass(11)
        assert prune() == 1
        stored = Request.objects.get()
        assert (stored.default_response, stored.response_data) == ({}, {})
        assert stored.response_config == {}
        for user, path in ((owner, "/dashboard/requests/"), (member, "/inbox/")):
            page = signed_in(user).get(f"{path}{stored.pk}/")
            assert page.status_code == 200
            assert "Text removed" in words(page)
            assert "Ada, no" not in words(page)
        typed = {"answer.reply": "Dear Ada, yes."}
        late = signed_in(owner).post(f"/inbox/{stored.pk}/answer/", typed)
        assert late.status_code == 409
        assert "reply: Dear Ada, yes." in words(late)

    def test_of_an_approval_stays_what_was_decided(
        self, make: Make, owner: User, member: User, settings: Settings
    ) -> None:
        settings.KEEP_TEXTS_DAYS = 10
        fields: dict[str, Any] = {
            "response_type": "approval",
            "response_config": {
                "proposal": {"name": "reply", "title": "Ada", "arguments": {"to": "Ada", "n": 1}},
                "actions": ["approve", "edit", "reject"],
            },
            "default_response": {"action": "reject", "message": "Ada"},
        }
        edited, rejected = make(**fields), make(**fields)
        for request, decision in (
            (edited, {"action": "edit", "arguments": {"to": "Ada L", "n": 1}}),
            (rejected, {"action": "reject", "message": "No, Ada"}),
        ):
            services.answer_request(request=request, reviewer_id=member.pk, answer=decision)
        let_pass(11)
        assert prune() == 2
        stored = Request.objects.get(pk=edited.pk)
        assert stored.response_config == {"proposal": {"name": "reply"}}
        assert stored.default_response == {"action": "reject"}
        assert stored.response_data == {"action": "edit", "edited": ["to"]}
        assert Request.objects.get(pk=rejected.pk).response_data == {"action": "reject"}
        for user, path in ((owner, "/dashboard/requests/"), (member, "/inbox/")):
            page = signed_in(user).get(f"{path}{edited.pk}/")
            assert "Approved with changes: to" in words(page)
            assert "Ada" not in words(page)
        typed = {"answer": "edit", "answer.edit.0": "Ada M"}
        late = signed_in(owner).post(f"/inbox/{edited.pk}/answer/", typed)
        assert late.status_code == 409
        assert "Ada M" in words(late)

    def test_requests_without_texts_go_later(
        self, make: Make, member: User, settings: Settings
    ) -> None:
        settings.KEEP_TEXTS_DAYS, settings.KEEP_REQUESTS_DAYS = 10, 20
        ended_in_every_way(make, member)
        let_pass(11)
        assert prune() == 3
        assert len(left()) == 4
        let_pass(10)
        assert prune() == 3
        assert left() == {"pending"}


class TestLoops:
    def test_a_loop_keeps_for_a_shorter_time(
        self, make: Make, member: User, loop: Loop, owner: User, settings: Settings
    ) -> None:
        settings.KEEP_REQUESTS_DAYS = 30
        other = create_loop(owner_id=owner.pk, name="Other", icon="star")
        kept = services.create_request(loop_id=other.pk, account=acting(owner), fields=FIELDS)
        services.cancel_request(request_id=kept.pk, account_id=owner.pk)
        ended_in_every_way(make, member)
        Loop.objects.filter(pk=loop.pk).update(keep_requests_days=5)
        let_pass(6)
        assert prune() == 3
        assert Request.objects.filter(pk=kept.pk).exists()

    def test_never_for_a_longer_one(
        self, make: Make, member: User, loop: Loop, settings: Settings
    ) -> None:
        settings.KEEP_REQUESTS_DAYS = 30
        Loop.objects.update(keep_requests_days=90)
        ended_in_every_way(make, member)
        let_pass(31)
        assert prune() == 3

    def test_a_deleted_loop_as_well(
        self, make: Make, member: User, loop: Loop, owner: User, settings: Settings
    ) -> None:
        settings.KEEP_REQUESTS_DAYS = 30
        ended_in_every_way(make, member)
        services.delete_loop(loop_id=loop.pk, account_id=owner.pk)
        let_pass(31)
        assert prune() == 4


@pytest.mark.django_db(transaction=True)
class TestBesideOthers:
    @pytest.fixture
    def _ended(self, make: Make, member: User, settings: Settings) -> None:
        settings.KEEP_REQUESTS_DAYS = 4
        ended_in_every_way(make, member)
        let_pass(5)

    @pytest.mark.usefixtures("_ended")
    def test_two_runs_at_once(self) -> None:
        removed: list[int] = []

        def run() -> None:
            removed.append(prune())
            connection.close()

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(removed) == 3

    @pytest.mark.usefixtures("_ended")
    def test_a_locked_request_is_left(self) -> None:
        request = Request.objects.get(status="completed")
        found: list[int] = []

        def run() -> None:
            found.append(prune())
            connection.close()

        with transaction.atomic():
            services.add_feedback(request=request, feedback={"rating": 4})
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        assert found == [2]
        assert Feedback.objects.get().body == {"rating": 4}
        assert prune() == 1


def test_a_restored_copy_keeps_everything(make: Make, member: User, settings: Settings) -> None:
    settings.KEEP_REQUESTS_DAYS, settings.DELIVERIES_ARE_ON = 4, False
    ended_in_every_way(make, member)
    let_pass(5)
    assert tasks.prune_requests() == 0
    settings.DELIVERIES_ARE_ON = True
    assert tasks.prune_requests() == 3


def test_what_streams_read_stays_for_longer_than_they_look_back() -> None:
    assert MIN_DAYS * 24 > event_log.RETENTION_HOURS
    assert longest(DELAYS, scale=1.0) < MIN_DAYS * 86_400


@pytest.mark.parametrize("typed", ["3", "-1", "40000"])
def test_too_few_days_stop_the_start(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEP_REQUESTS_DAYS", typed)
    with pytest.raises(ImproperlyConfigured, match="KEEP_REQUESTS_DAYS is"):
        variables.read_days("KEEP_REQUESTS_DAYS", default=0, at_least=4)
    monkeypatch.setenv("KEEP_REQUESTS_DAYS", "0")
    assert variables.read_days("KEEP_REQUESTS_DAYS", default=9, at_least=4) is None
