"""What people have answered, apart from what it decided."""

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from accounts.models import User
from loops.models import Loop
from reviews import services
from reviews.models import Answer, Request, build_answer
from tests.reviews.conftest import Make
from tests.serving import database_url
from tests.waiting import wait_until

BEFORE = "0021_index_of_metadata"
ANSWERED = 10_000
# Answered by the version before this one, of which every fifth is still open.
FILL = """
INSERT INTO reviews_request (id, loop_id, creator_id, processing_type, type, priority, request_text,
       timeout_seconds, response_type, response_config, default_response, platform, status,
       timeout_at, response_data, response_by_id, response_at, response_comment, claim_count,
       broadcasted_to, notifications_sent, created_at, updated_at)
SELECT lpad(to_hex(n), 21, '0') || right(%(owner)s, 3), %(loop)s, %(owner)s, 'deferred', 'markdown',
       'low', 'Question', 600, 'text', '{}', '"none"', 'api',
       CASE WHEN n %% 5 = 0 THEN 'pending' ELSE 'completed' END, now() + interval '1 day',
       CASE WHEN n %% 5 > 0 THEN to_json(n::text) END, CASE WHEN n %% 5 > 0 THEN %(member)s END,
       CASE WHEN n %% 5 > 0 THEN now() END, CASE WHEN n %% 5 = 1 THEN 'Because' END, 0, 1, 0,
       now() - interval '1 hour', now()
  FROM generate_series(1, %(count)s::int) n
"""
COMPLETE = """
UPDATE reviews_request SET status = 'completed', response_by_id = %(member)s, response_at = now(),
       response_data = '"late"', updated_at = now()
 WHERE id = (SELECT id FROM reviews_request WHERE status = 'pending' LIMIT 1)
"""
MISSING = """
SELECT count(*) FROM reviews_request r FULL JOIN reviews_answer a ON a.request_id = r.id
 WHERE (r.response_by_id IS NOT NULL OR a.id IS NOT NULL)
   AND (a.account_id, a.loop_id, a.person_id, a.data::text, coalesce(a.comment, ''), a.asked_at,
        a.answered_at, right(a.id, 3))
       IS DISTINCT FROM (r.creator_id, r.loop_id, r.response_by_id, r.response_data::text,
        coalesce(r.response_comment, ''), r.created_at, r.response_at, right(r.creator_id, 3))
"""


@pytest.mark.django_db
def test_an_answer_is_a_row_of_its_own(make: Make, member: User) -> None:
    request = make()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes", comment="Sure.")
    stored = Request.objects.get(pk=request.pk)
    answer = Answer.objects.get()
    assert (answer.request_id, answer.person_id, answer.account_id, answer.loop_id) == (
        request.pk, member.pk, request.creator_id, request.loop_id,
    )  # fmt: skip
    assert (answer.data, answer.comment) == ("yes", "Sure.")
    assert (answer.asked_at, answer.answered_at) == (stored.created_at, stored.response_at)


@pytest.mark.django_db
def test_a_person_has_one(make: Make, member: User) -> None:
    request = make()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    again = build_answer(
        request, person_id=member.pk, data="no", comment=None, at=request.created_at
    )
    with pytest.raises(IntegrityError, match="one_answer_a_person"), transaction.atomic():
        again.save(force_insert=True)


@pytest.fixture
def _newest_in_the_end() -> Iterator[None]:
    yield
    call_command("migrate", verbosity=0)


class OldVersion:
    """The version before, which goes on to complete requests while others migrate."""

    def __init__(self, member: User) -> None:
        self.member = member
        self.completed = 0
        self.failures: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> "OldVersion":
        self._thread.start()
        wait_until(lambda: self.completed > 0)
        return self

    def __exit__(self, *_: object) -> None:
        so_far = self.completed
        wait_until(lambda: self.failures or self.completed > so_far)
        self._over.set()
        self._thread.join()

    def _serve(self) -> None:
        with psycopg.connect(database_url(), autocommit=True, options="-c lock_timeout=1s") as old:
            while not self._over.wait(0.005):
                try:
                    old.execute(COMPLETE, {"member": self.member.pk})
                    self.completed += 1
                except psycopg.Error as error:
                    self.failures.append(str(error))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_newest_in_the_end")
def test_there_and_back_while_the_version_before_serves(
    owner: User, member: User, loop: Loop
) -> None:
    call_command("migrate", "reviews", BEFORE, verbosity=0)
    params: dict[str, Any] = {"owner": owner.pk, "member": member.pk, "loop": loop.pk}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # without triggers
        cursor.execute(FILL, {**params, "count": ANSWERED * 5 // 4})
    with OldVersion(member) as old:
        call_command("migrate", verbosity=0)
    assert old.failures == []
    with connection.cursor() as cursor:
        cursor.execute(MISSING)
        assert cursor.fetchone() == (0,)
        assert Answer.objects.count() == ANSWERED + old.completed
        with OldVersion(member) as old:
            call_command("migrate", "reviews", BEFORE, verbosity=0)
        assert old.failures == []
        cursor.execute("SELECT count(*) FROM reviews_request WHERE response_by_id IS NOT NULL")
        assert cursor.fetchone()[0] > ANSWERED
