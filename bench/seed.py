"""Writes accounts, loops and requests to measure with; requests in SQL, without the services."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.contrib.auth import login
from django.db import connection
from django.http import HttpRequest

from accounts.models import User
from accounts.services import create_account
from accounts.session_store import SessionStore
from db.ids import new_id
from loops.models import Loop
from loops.services import create_loop
from reviews.tasks import fold_counters

MANY = 50_000
TABLES = (
    "reviews_request", "reviews_requestwords", "reviews_answer", "webhooks_delivery",
    "webhooks_attempt",
)  # fmt: skip
_BARE = """
SELECT format('DROP INDEX %%s', indexrelid::regclass), pg_get_indexdef(indexrelid)
  FROM pg_index
 WHERE indrelid = ANY (%(tables)s::regclass[]) AND NOT indisprimary AND NOT indisunique
 UNION ALL
SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
       format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname,
              pg_get_constraintdef(oid))
  FROM pg_constraint WHERE conrelid = ANY (%(tables)s::regclass[]) AND contype = 'f'
"""
_MIXED = (Path(__file__).parent / "mixed.sql").read_text(encoding="utf-8")
_ANSWERS = (Path(__file__).parent / "answers.sql").read_text(encoding="utf-8")
_DELIVERIES = (Path(__file__).parent / "deliveries.sql").read_text(encoding="utf-8")
_WAITING = (Path(__file__).parent / "waiting.sql").read_text(encoding="utf-8")


def account(number: int) -> tuple[User, Loop]:
    """Creates an account with a loop."""
    owner = create_account(email=f"bench{number}.{new_id()}@example.com", name="Bench")
    return owner, create_loop(owner_id=owner.pk, name="Bench", icon="cog")


def session_of(user: User) -> str:
    """The session cookie of somebody who is signed in."""
    http = HttpRequest()
    http.session = SessionStore()
    login(http, user, backend="allauth.account.auth_backends.AuthenticationBackend")
    http.session.save()
    return str(http.session.session_key)


def mixed(loops: list[Loop], count: int) -> None:
    """Requests of every status and priority with their answers, spread over 90 days and the loops.

    Half of all are in the first loop, a quarter in the second, and so on.
    """
    params = {"loops": [loop.pk for loop in loops], "most": len(loops)}
    write(count, params, _MIXED, _ANSWERS)


def waiting(loop: Loop, count: int, *, due_in: float, callback_url: str | None = None) -> None:
    """Pending requests whose deadlines lie within the second that ends in `due_in` seconds."""
    params = {"loop": loop.pk, "creator": loop.creator_id}
    write(count, {**params, "due_in": due_in, "callback_url": callback_url}, _WAITING)


def deliveries(loop: Loop, count: int) -> None:
    """A delivery in each state, with an attempt, for up to `count` ended requests of the loop."""
    write(count, {"loop": loop.pk}, _DELIVERIES)


def write(count: int, params: dict[str, Any], *inserts: str) -> None:
    """Runs each INSERT … SELECT of up to `count` rows. Then leaves the tables as sweeps and
    autovacuum would, and the write-ahead log as on a server that has run for a while: its next
    files exist, while a new server stops for 45 ms at every 16 MB to create one."""
    with connection.cursor() as cursor, bare_tables(cursor, at_all=count >= MANY):
        for insert in inserts:
            cursor.execute(insert, {**params, "count": count})
    fold_counters()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")


@contextmanager
def bare_tables(cursor: Any, *, at_all: bool) -> Iterator[None]:
    """Drops secondary indexes and foreign keys for the block: a million rows take seconds."""
    restore: list[str] = []
    if at_all:
        cursor.execute("SET maintenance_work_mem = '512MB'")
        cursor.execute(_BARE, {"tables": list(TABLES)})
        found = cursor.fetchall()
        restore = [again for _, again in found]
        for drop, _ in found:
            cursor.execute(drop)
    yield
    for again in restore:
        cursor.execute(again)
