"""Checks whether everything that clients saw is consistent. Pure."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

Outcome = Literal["ok", "failed", "unknown"]
State = tuple[str, Any]
"""A status, and the response_data that goes with it."""
FINAL = ("completed", "timeout", "cancelled")
ON_A_PAGE = "not shown"
"""The response_data of what a page shows: its status alone is compared."""
WRITES = ("answer", "cancel", "claim")
SLACK = 2.0
"""Seconds for which a call that nobody heard the end of may hold its row still."""

FORGOTTEN = 2.0
"""Seconds before a crash in which the quota, committed asynchronously, may forget calls."""
ORDER_SLACK = 5000
"""Milliseconds by which the order of ids and that of creation may differ."""


@dataclass(frozen=True)
class Call:
    """One invocation: what was asked, when (seconds of Unix time), and what came back.

    `unknown` means that nobody can say whether it happened. `seen` is what a read showed, or
    what an acknowledgement says that the request now is.
    """

    client: str
    operation: str
    request_id: str
    started: float
    ended: float
    outcome: Outcome
    seen: State | None = None


@dataclass(frozen=True)
class Listing:
    """A page of the list of one status: the ids and statuses that it showed, the newest first, how
    many it skipped, and how many of that status it counted."""

    client: str
    status: str
    started: float
    ended: float
    total: int
    shown: Sequence[tuple[str, str]]
    offset: int = 0


@dataclass(frozen=True)
class Usage:
    """What the quota has counted. `is_one_hour` is whether no new hour began meanwhile."""

    calls: int
    credits: int
    is_one_hour: bool = True


@dataclass(frozen=True)
class Charge:
    """A call that the quota must count: when it ended, and whether it was answered."""

    ended: float
    is_answered: bool


@dataclass(frozen=True)
class Row:
    """A request as it stands in the end."""

    request_id: str
    state: State
    timeout_at: float
    claims: int


@dataclass(frozen=True)
class Delivery:
    """A row of the outbox; `occurrence` names what happened."""

    request_id: str
    occurrence: str
    webhook_id: str
    body: bytes


@dataclass(frozen=True)
class History:
    """Everything that is known after the storm."""

    calls: list[Call]
    rows: dict[str, Row]
    outbox: list[Delivery]
    posts: list[tuple[str, bytes]]
    listings: list[Listing] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    crashes: list[float] = field(default_factory=list)
    usage: Usage | None = None

    def save(self, file: Path) -> None:
        """One call per line, as JSON."""
        lines = [json.dumps(asdict(call)) for call in self.calls]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def faults(self) -> list[str]:
        """Each contradiction in a line; none where all is well."""
        return [
            *self.lost_creations(),
            *self.several_ends(),
            *self.lost_acknowledgements(),
            *self.reads_that_go_back(),
            *self.reads_behind_the_deadline(),
            *self.ends_before_the_deadline(),
            *self.wrong_totals(),
            *self.wrong_filters(),
            *self.missing_from_lists(),
            *self.wrong_quota(),
            *self.undelivered(),
            *self.delivered_otherwise(),
        ]

    def acknowledged(self, *operations: str) -> Iterator[Call]:
        return (
            call for call in self.calls if call.operation in operations and call.outcome == "ok"
        )

    def lost_creations(self) -> Iterator[str]:
        for call in self.acknowledged("create"):
            if call.request_id not in self.rows:
                yield f"{call.request_id} was created and is not there"

    def several_ends(self) -> Iterator[str]:
        """However many looked, all of them saw the same end."""
        ends: dict[str, set[str]] = defaultdict(set)
        for request_id, (status, data) in self.final_states():
            row = self.rows.get(request_id)
            if data == ON_A_PAGE and row and row.state[0] == status:
                continue
            ends[request_id].add(json.dumps((status, data)))
        for request_id, states in ends.items():
            if len(states) > 1:
                yield f"{request_id} ended as {' and as '.join(sorted(states))}"

    def final_states(self) -> Iterator[tuple[str, State]]:
        """By every witness: clients, the table, and the events that were received."""
        for call in self.calls:
            if call.seen and call.seen[0] in FINAL:
                yield call.request_id, call.seen
        for row in self.rows.values():
            if row.state[0] in FINAL:
                yield row.request_id, row.state
        for _, body in self.posts:
            event = json.loads(body)
            if event["status"] in FINAL:
                yield event["request_id"], (event["status"], event["response_data"])

    def lost_acknowledgements(self) -> Iterator[str]:
        for call in self.acknowledged("answer", "cancel"):
            row = self.rows.get(call.request_id)
            if row is None or row.state != call.seen:
                yield f"{call.request_id}: {call.operation} {call.seen} was acknowledged, but {row}"

    def reads_that_go_back(self) -> Iterator[str]:
        """A call that began after somebody had been told of the end sees that end."""
        known = self.first_told()
        for call in self.calls:
            told = known.get(call.request_id, float("inf"))
            if call.seen and call.seen[0] not in FINAL and call.started > told:
                yield f"{call.request_id} was final and then {call.seen[0]} to {call.client}"

    def first_told(self) -> dict[str, float]:
        """When somebody was first told of the end of each request."""
        known: dict[str, float] = {}
        for call in self.calls:
            if call.seen and call.seen[0] in FINAL:
                known[call.request_id] = min(call.ended, known.get(call.request_id, call.ended))
        return known

    def reads_behind_the_deadline(self) -> Iterator[str]:
        """What somebody holds shows as it is stored: a write that began in time excuses a read."""
        for call in self.calls:
            row = self.rows.get(call.request_id)
            if row is None or not call.seen or call.seen[0] in FINAL:
                continue
            if call.started >= row.timeout_at and not self.is_held(row, call.started):
                yield f"{call.request_id} was {call.seen[0]} to {call.client} after its deadline"

    def is_held(self, row: Row, at: float) -> bool:
        """Whether a write that began before the deadline may have been under way then."""
        return any(
            call.started < row.timeout_at
            and at <= call.ended + (SLACK if call.outcome == "unknown" else 0)
            for call in self.writes[row.request_id]
        )

    @cached_property
    def writes(self) -> dict[str, list[Call]]:
        """The calls that change a request, by its id."""
        found: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            if call.operation in WRITES:
                found[call.request_id].append(call)
        return found

    def ends_before_the_deadline(self) -> Iterator[str]:
        for call in self.calls:
            row = self.rows.get(call.request_id)
            if row and call.seen and call.seen[0] == "timeout" and call.ended < row.timeout_at:
                yield f"{call.request_id} was timeout to {call.client} before its deadline"

    def wrong_totals(self) -> Iterator[str]:
        """A total counts at least what was known to have ended so when it was asked for, and at
        most what can have ended so when it was given."""
        known = self.first_told()
        for each in self.ended_listings():
            rows = [row for row in self.rows.values() if row.state[0] == each.status]
            least = sum(known.get(row.request_id, float("inf")) < each.started for row in rows)
            most = sum(self.earliest_end(row) <= each.ended for row in rows)
            if not least <= each.total <= most:
                yield (
                    f"{each.total} were {each.status} to {each.client},"
                    f" which cannot be: from {least} to {most} were"
                )

    def ended_listings(self) -> Iterator[Listing]:
        """Those of a status that a request keeps."""
        return (each for each in self.listings if each.status in FINAL)

    def wrong_filters(self) -> Iterator[str]:
        """A list of one status shows no other, and nothing twice."""
        for each in self.listings:
            for request_id, status in each.shown:
                if status != each.status:
                    yield f"{request_id} was {status} in the list of {each.status}"
            if len(dict(each.shown)) < len(each.shown):
                yield f"{each.client} saw a request twice on one page of {each.status}"

    def missing_from_lists(self) -> Iterator[str]:
        """The first page of a status shows every request known to have it, back to its oldest."""
        known = self.first_told()
        for each in self.ended_listings():
            shown = dict(each.shown)
            is_whole = each.total <= len(shown)
            if each.offset or not shown:
                continue
            oldest = min(map(made_at, shown)) + ORDER_SLACK
            for row in self.rows.values():
                is_known = known.get(row.request_id, float("inf")) < each.started
                is_due = is_whole or made_at(row.request_id) > oldest
                is_absent = row.state[0] == each.status and row.request_id not in shown
                if is_absent and is_known and is_due:
                    yield f"{row.request_id} is missing from the list of {each.status}"

    def wrong_quota(self) -> Iterator[str]:
        """Every answered call was counted, unless the server crashed right then; none twice; and
        every cancelled request gave one call back."""
        if self.usage is None:
            return
        least = sum(
            charge.is_answered
            and not any(at - FORGOTTEN <= charge.ended <= at + SLACK for at in self.crashes)
            for charge in self.charges
        )
        if not least <= self.usage.calls <= len(self.charges):
            yield (
                f"the quota counts {self.usage.calls} calls,"
                f" which cannot be: from {least} to {len(self.charges)} were made"
            )
        cancelled = sum(row.state[0] == "cancelled" for row in self.rows.values())
        if self.usage.is_one_hour and self.usage.credits != cancelled:
            yield f"the quota has {self.usage.credits} credits for {cancelled} cancelled requests"

    def earliest_end(self, row: Row) -> float:
        """Before this moment the request had not ended as it did."""
        if row.state[0] == "timeout":
            return row.timeout_at
        return min((call.started for call in self.writes[row.request_id]), default=0.0)

    def undelivered(self) -> Iterator[str]:
        """One event for each end and each claim in the outbox, and every one received."""
        occurrences: dict[str, list[str]] = defaultdict(list)
        for delivery in self.outbox:
            occurrences[delivery.request_id].append(delivery.occurrence)
        received = {webhook_id for webhook_id, _ in self.posts}
        for row in self.rows.values():
            if row.state[0] not in FINAL:
                yield f"{row.request_id} never ended"
            expected = [f"{row.request_id}:claim:{n + 1}" for n in range(row.claims)]
            if sorted(occurrences[row.request_id]) != sorted([*expected, f"{row.request_id}:end"]):
                yield f"{row.request_id} has the events {occurrences[row.request_id]}"
        for delivery in self.outbox:
            if delivery.webhook_id not in received:
                yield f"{delivery.occurrence} was not received"

    def delivered_otherwise(self) -> Iterator[str]:
        """One id, one body: the one of the outbox."""
        bodies = {delivery.webhook_id: delivery.body for delivery in self.outbox}
        for webhook_id, body in set(self.posts):
            if bodies.get(webhook_id) != body:
                yield f"{webhook_id} was received with a body that is not in the outbox"

    def counts(self) -> dict[str, int]:
        """How much there was of everything."""
        ends = count(row.state[0] for row in self.rows.values())
        return {
            **count(f"{call.operation}: {call.outcome}" for call in self.calls),
            **{f"requests that ended {status}": number for status, number in ends.items()},
            "lists of a status": len(self.listings),
            "calls counted by the quota": self.usage.calls if self.usage else 0,
            "calls credited": self.usage.credits if self.usage else 0,
            "claims": sum(row.claims for row in self.rows.values()),
            "events in the outbox": len(self.outbox),
            "POSTs received": len(self.posts),
        }


def made_at(request_id: str) -> int:
    """The time in an id, in milliseconds of Unix time; 0 where it has none."""
    try:
        return int(request_id[:12], 16)
    except ValueError:
        return 0


def count(names: Iterable[str]) -> dict[str, int]:
    """How often each name comes, in the order of the alphabet."""
    found: dict[str, int] = defaultdict(int)
    for name in names:
        found[name] += 1
    return dict(sorted(found.items()))
