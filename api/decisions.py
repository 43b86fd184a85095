"""API views of a loop's decisions: figures, and an export of every decision.

The export is made in pages while the client takes it (`reviews.queries.decisions`). Before each
page it asks whether the key, its permission, the account and the loop still stand.
"""

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.http import HttpResponse, StreamingHttpResponse

from accounts.quota import find_caller
from api.authentication import Call, read_key
from api.envelope import HEADERS, ok
from api.errors import ExportUnderWay, LoopDenied, ValidationFailed
from api.failures import ExportDecisionsFailed, ReadStatisticsFailed
from api.lookup import find_own_loop
from api.views import ApiView
from loops.models import Loop
from reviews import exports
from reviews.queries.decision_figures import ACTIONS, MOST, QUICK, SPAN, Figures, read_figures
from reviews.queries.decisions import Span, write_lines

NAMES = dict(zip(ACTIONS, ("approved", "edited", "rejected", "replied", "timed_out"), strict=True))


class KeyEnded(Exception):
    """The key, its permission, the account or the loop ended before the export did."""


class LoopStatistics(ApiView):
    """/api/loops/{id}/statistics"""

    permissions: ClassVar = {"GET": "requests:read"}
    failures: ClassVar = {"GET": ReadStatisticsFailed}

    def get(self, call: Call, loop_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, call.account, denied=LoopDenied)
        found = read_figures(loop.pk, account_id=loop.creator_id)
        data = {
            "loop_id": loop.pk,
            "days": SPAN.days,
            "most": MOST,
            "quick_seconds": QUICK,
            "approvals": describe(found[0]) if found else None,
            "tools": [{"tool": each.tool, **describe(each)} for each in found[1:]],
        }
        return ok("Loop statistics retrieved successfully", data)


class LoopDecisions(ApiView):
    """/api/loops/{id}/decisions"""

    permissions: ClassVar = {"GET": "requests:read"}
    failures: ClassVar = {"GET": ExportDecisionsFailed}

    def get(self, call: Call, loop_id: str) -> Any:  # a response in parts is no HttpResponse
        loop = find_own_loop(loop_id, call.account, denied=LoopDenied)
        since, until = (read_time(call, name) for name in ("since", "until"))
        try:
            lease = exports.begin(
                account_id=loop.creator_id,
                action="request.exported",
                subject=f"JSONL, {loop.name}",
                key_id=call.caller.key_id,
            )
        except exports.AlreadyExporting:
            raise ExportUnderWay from None
        parts = write_lines(Span(loop.pk, loop.creator_id, since, until))
        headers = {**HEADERS, "Content-Type": "text/jsonl"}
        return StreamingHttpResponse(KeyedDownload(call, loop, parts, lease), headers=headers)


class KeyedDownload(exports.Download):
    """An export that ends when its API key, the account or the loop does."""

    def __init__(
        self, call: Call, loop: Loop, parts: Generator[str, None, None], lease: exports.Lease
    ) -> None:
        super().__init__(parts, lease)
        self._key = read_key(call.request.META.get("HTTP_AUTHORIZATION"))
        self._loop = loop

    def check(self) -> None:
        caller = find_caller(self._key)
        own = Loop.objects.of_creator(self._loop.creator_id).filter(pk=self._loop.pk)
        if not (
            caller
            and caller.usable
            and caller.account.is_active
            and "requests:read" in caller.permissions
            and own.exists()
        ):
            raise KeyEnded


def describe(figures: Figures) -> dict[str, Any]:
    """Describes the figures of one tool, or of all; shares are from 0 to 1."""
    median = figures.median_seconds
    quick = figures.quick_share
    return {
        "count": figures.count,
        **{NAMES[action]: round(figures.share(action), 3) for action in ACTIONS},
        "median_seconds_from_opening": None if median is None else round(median, 3),
        "may_not_have_been_read": None if quick is None else round(quick, 3),
    }


def read_time(call: Call, name: str) -> datetime | None:
    """Reads a time of the query; one without an offset is in UTC. Raises ValidationFailed."""
    text = call.query_params.get(name)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        raise ValidationFailed(f"{name} must be a time, such as 2026-05-01T00:00:00Z") from None
