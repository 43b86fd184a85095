"""Removes finished requests, or only their texts, after the loop's retention time.

The time counts from the end of a request. A request stays while one of its webhooks waits.
Two indexes on loop and end find what is due, so a run costs the same at any size of the table.
"""

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import connection, transaction

from db.pruning import BATCH, older_than_sql, run_batches
from loops.retention import REQUESTS_DAYS, TEXTS_DAYS, get_limits
from reviews import feedback_texts
from reviews.lifecycle.conditions import ENDED_AT, FINAL
from reviews.lifecycle.events import format_occurrences
from reviews.receipts.services import issue_missing
from webhooks.emission import name_occurrences_sql
from webhooks.retention import remove_about

_OCCURRENCES = name_occurrences_sql("""ARRAY[r.id || ':created', r.id || ':end'] || ARRAY(
    SELECT r.id || ':claim:' || n FROM generate_series(1, r.claim_count) n)""")
_NOTHING_WAITS = f"""NOT EXISTS (
    SELECT FROM webhooks_delivery d
     WHERE d.occurrence = ANY ({_OCCURRENCES}) AND d.state = 'waiting')"""
_LOCKED = f"ORDER BY {ENDED_AT} LIMIT {BATCH} FOR UPDATE SKIP LOCKED"


def _due(loop: str, days: str, texts: str) -> str:
    """Builds SQL for finished requests of a loop that ended so many days ago.

    `texts` is `NULL` for requests with their texts, else `NOT NULL`.
    """
    return f"""SELECT r.id, r.claim_count FROM reviews_request r
     WHERE r.loop_id = {loop} AND {FINAL} AND r.texts_removed_at IS {texts}
       AND {ENDED_AT} <= {older_than_sql(days)}"""  # noqa: S608


_KINDS = (("requests", REQUESTS_DAYS, "NULL"), ("requests", REQUESTS_DAYS, "NOT NULL"),
          ("texts", TEXTS_DAYS, "NULL"))  # fmt: skip
# The loops with due rows: two index look-ups for each loop with a retention time.
_LOOPS = " UNION ALL ".join(
    f"""SELECT l.id, l.creator_id, '{kind}', '{texts}', {days} FROM loops_loop l
     WHERE {days} IS NOT NULL AND EXISTS ({_due("l.id", days, texts)})"""  # noqa: S608
    for kind, days, texts in _KINDS
)
_DUE = {
    texts: f"{_due('%(loop)s', '%(days)s', texts)} AND {_NOTHING_WAITS} {_LOCKED}"
    for texts in ("NULL", "NOT NULL")
}
_OF = "WHERE request_id = ANY (%(ids)s) AND account_id = %(account)s"
_REMOVE_WORDS = f"DELETE FROM reviews_requestwords {_OF}"  # noqa: S608
_REMOVE = (
    f"DELETE FROM reviews_feedback {_OF}",  # noqa: S608
    f"DELETE FROM reviews_receipt {_OF}",  # noqa: S608
    f"DELETE FROM reviews_grant {_OF}",  # noqa: S608 (over for long: a request stays for days)
    f"DELETE FROM reviews_viewer {_OF}",  # noqa: S608
    f"DELETE FROM reviews_answer {_OF}",  # noqa: S608
    # each channel has an index of its own
    f"DELETE FROM reviews_notification {_OF} AND channel = 'push'",  # noqa: S608
    f"DELETE FROM reviews_notification {_OF} AND channel = 'mail'",  # noqa: S608
    _REMOVE_WORDS,
    "DELETE FROM reviews_request WHERE id = ANY (%(ids)s) AND creator_id = %(account)s",
)
# A text or an object has to stay an answer, and other answers refer to options. Of an approval
# stays what was done, not what was proposed.
_EMPTY = """CASE WHEN {0} IS NULL THEN NULL
       WHEN response_type = 'text' THEN '""'
       WHEN response_type = 'form' THEN '{{}}'
       WHEN response_type = 'approval' THEN json_strip_nulls(json_build_object(
           'action', {0}->'action', 'edited', {0}->'edited'))
       ELSE {0} END"""
# The fields of a form may have texts as defaults.
_EMPTY_CONFIG = """CASE response_type WHEN 'form' THEN '{}' WHEN 'approval' THEN json_build_object(
           'proposal', json_build_object('name', response_config->'proposal'->'name'))
       ELSE response_config END"""
_REMOVE_ANSWERS = f"""
UPDATE reviews_answer SET comment = NULL, data = {_EMPTY.format("data")}
  FROM reviews_request r
 WHERE request_id = r.id AND request_id = ANY (%(ids)s) AND account_id = %(account)s
"""  # noqa: S608
_REMOVE_TEXTS = f"""
UPDATE reviews_request
   SET texts_removed_at = statement_timestamp(), request_text = '', image_url = NULL,
       context = NULL, metadata = NULL, response_comment = NULL,
       response_config = {_EMPTY_CONFIG},
       default_response = {_EMPTY.format("default_response")},
       response_data = {_EMPTY.format("response_data")}
 WHERE id = ANY (%(ids)s) AND creator_id = %(account)s
"""  # noqa: S608


def prune(*, until: float) -> int:
    """Removes requests and texts after their retention time; returns the number of requests.

    Starts no batch after `until`, a time of `time.monotonic()`.
    """
    loops = _fetch(_LOOPS, get_limits())
    random.shuffle(loops)  # in random order: runs that end early end at different loops
    total = 0
    for loop_id, account_id, kind, texts, days in loops:
        which = {"loop": loop_id, "account": account_id, "days": days}
        total += run_batches(partial(_remove_batch, kind, texts, which), until=until)
    return total


@transaction.atomic
def _remove_batch(kind: str, texts: str, which: dict[str, Any]) -> int:
    found = _fetch(_DUE[texts], which)
    remove = remove_requests if kind == "requests" else _remove_texts
    remove(which["account"], found)
    return len(found)


def remove_requests(
    account_id: str, found: Sequence[tuple[Any, ...]], *, waiting: bool = False
) -> None:
    """Removes requests with all their rows, in the caller's transaction.

    `found` has the id and the number of claims of each; the caller has locked them. With `waiting`,
    webhooks that wait are not sent any more.
    """
    if found:
        params = _remove_events(account_id, found, waiting=waiting)
        for statement in _REMOVE:
            _execute(statement, params)


def _remove_texts(account_id: str, found: Sequence[tuple[Any, ...]]) -> None:
    """Removes the texts of requests and of their events, search words, answers and feedback.

    Receipts stay: they have only digests.
    """
    if found:
        params = _remove_events(account_id, found)
        issue_missing(account_id, params["ids"])
        for statement in (_REMOVE_WORDS, feedback_texts.REMOVE, _REMOVE_ANSWERS, _REMOVE_TEXTS):
            _execute(statement, params)


def _remove_events(
    account_id: str, found: Sequence[tuple[Any, ...]], *, waiting: bool = False
) -> dict[str, Any]:
    """Removes the deliveries of requests; returns the parameters that name the requests."""
    occurrences = [
        occurrence
        for request_id, claims in found
        for occurrence in format_occurrences(request_id, claims=range(1, claims + 1))
    ]
    remove_about(account_id=account_id, occurrences=occurrences, waiting=waiting)
    return {"ids": [request_id for request_id, _ in found], "account": account_id}


def _fetch(sql: str, params: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _execute(sql: str, params: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
