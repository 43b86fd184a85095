"""Reads how a loop's requests were decided, as lines of JSON, page by page.

Each page of ids begins after the place of the last one before, and is read in parts of bounded size
(`reviews.sizes`). So neither memory nor a transaction grows with the number or length of rows.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from db.columns import dumps
from db.times import iso, seconds_between
from reviews import sizes
from reviews.lifecycle import states
from reviews.lifecycle.settling import scope_to_loops, settle_first
from reviews.response_types.approval import APPROVAL

PAGE = 100  # requests that are read at a time
_NEWEST = """
(SELECT id, created_at
   FROM reviews_request
  WHERE loop_id = %(loop)s AND creator_id = %(account)s AND status = '{}'
    AND created_at >= coalesce(%(since)s::timestamptz, '-infinity')
    AND (created_at, id) < (%(before)s::timestamptz, %(before_id)s)
  ORDER BY created_at DESC, id DESC LIMIT %(limit)s)"""
_PAGE = f"""
SELECT id, created_at
  FROM ({_NEWEST.format(states.COMPLETED)}
        UNION ALL {_NEWEST.format(states.TIMEOUT)}) AS each
 ORDER BY created_at DESC, id DESC LIMIT %(limit)s
"""  # noqa: S608 (nothing in it comes from outside)
_READ = """
SELECT r.id, r.created_at, r.status, r.response_type, r.request_text, r.response_config,
       r.response_data, r.response_comment, r.response_at, r.timeout_at, r.grant_id, v.opened_at
  FROM reviews_request r
  LEFT JOIN reviews_viewer v ON v.request_id = r.id AND v.person_id = r.response_by_id
 WHERE r.id = ANY (%(ids)s) AND r.creator_id = %(account)s
 ORDER BY r.created_at DESC, r.id DESC
"""


@dataclass(frozen=True, slots=True)
class Span:
    """The ended requests of an account's loop that were created from `since` until `until`."""

    loop_id: str
    account_id: str
    since: datetime | None = None
    until: datetime | None = None


def write_lines(span: Span) -> Generator[str, None, None]:
    """Writes the parts of a file, the newest requests first: a line of JSON for each."""
    settle_first(scope_to_loops([span.loop_id]))
    before: tuple[str, Any] | None = None
    while True:
        page = _read_page(span, before)
        for ids in sizes.split([request_id for request_id, _ in page]):
            rows = _read(span, ids)
            yield "".join(f"{dumps(describe(row))}\n" for row in rows)
        if len(page) < PAGE:
            return
        before = page[-1]


def describe(row: Mapping[str, Any]) -> dict[str, Any]:
    """Describes a decision. What only approvals have is null for other requests."""
    is_approval = row["response_type"] == APPROVAL
    proposal = row["response_config"].get("proposal") if is_approval else None
    data = row["response_data"]
    decision: Mapping[str, Any] = data if is_approval and isinstance(data, dict) else {}
    approved = decision.get("arguments")
    return {
        "id": row["id"],
        "created_at": iso(row["created_at"]),
        "ended_at": iso(row["response_at"] or row["timeout_at"]),
        "response_type": row["response_type"],
        "question": row["request_text"],
        "tool": proposal and proposal.get("name"),
        "proposal": proposal,
        "action": read_action(row["status"], decision),
        "answered_by": states.name_source(row["status"], by_grant=row["grant_id"] is not None),
        "approved_arguments": approved,
        "difference": None if approved is None else compare(proposal, decision),
        "answer": None if is_approval else data,
        "message": decision.get("message"),
        "comment": row["response_comment"],
        "seconds": _count_seconds(row["created_at"], row["response_at"]),
        "seconds_from_opening": _count_seconds(row["opened_at"], row["response_at"]),
    }


def read_action(status: str, decision: Mapping[str, Any]) -> str:
    """Returns the action of an approval, `answer` of other requests, `timeout` without a person."""
    if status == states.TIMEOUT:
        return "timeout"
    return str(decision.get("action", "answer"))


def compare(proposal: Any, decision: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a person changed: each argument as it was proposed, and as it was approved."""
    proposed = (proposal or {}).get("arguments") or {}
    return {
        name: {"proposed": proposed.get(name), "approved": decision["arguments"].get(name)}
        for name in decision.get("edited", ())
    }


def _read_page(span: Span, before: tuple[str, Any] | None) -> list[tuple[str, Any]]:
    """Reads the ids and times of the next requests.

    The span's end is where the first page begins: with two upper bounds, an index would be read
    from the newest request on for each page.
    """
    last_id, moment = before or ("", span.until or "infinity")
    params = {
        "loop": span.loop_id, "account": span.account_id, "since": span.since,
        "before": moment, "before_id": last_id, "limit": PAGE,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_PAGE, params)
        return list(cursor.fetchall())


def _read(span: Span, ids: list[str]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(_READ, {"ids": ids, "account": span.account_id})
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _count_seconds(start: datetime | None, end: datetime | None) -> float | int | None:
    return seconds_between(start, end) if start and end else None
