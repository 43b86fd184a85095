"""The history of a short storm holds; and the check would notice if one did not."""

import dataclasses
import json
from pathlib import Path

import pytest

from tests.faults.history import (
    ON_A_PAGE,
    Call,
    Charge,
    Delivery,
    History,
    Listing,
    Row,
    Usage,
)
from tests.faults.service import Service
from tests.faults.storm import Storm, weather
from tests.faults.trial import SHORT


def test_the_history_of_a_storm_holds(tmp_path: Path) -> None:
    service = Service(tmp_path / "storm", **SHORT.environment)
    try:
        service.start()
        storm = Storm(seconds=20, pause=(1.0, 3.0), seed=2026, hurry=3.0)
        aftermath = weather(service, storm)
    finally:
        service.discard()
    print(aftermath.kills, json.dumps(aftermath.history.counts(), indent=1))
    assert aftermath.history.faults() == []
    assert sum(aftermath.kills.values()) >= 3
    counts = aftermath.history.counts()
    assert counts["answer: ok"] > 5
    assert counts["cancel: ok"] > 5


BODY = json.dumps({"request_id": "r", "status": "completed", "response_data": "yes"}).encode()
CLAIM = b'{"status": "claimed"}'
TRUE = History(
    calls=[
        Call("a", "create", "r", 1.0, 1.1, "ok"),
        Call("b", "read", "r", 1.2, 2.2, "ok", ("pending", None)),
        Call("c", "answer", "r", 2.0, 2.1, "ok", ("completed", "yes")),
        Call("b", "read", "r", 2.3, 2.4, "ok", ("completed", "yes")),
        Call("a", "cancel", "r", 2.5, 2.6, "failed"),
        Call("b", "page", "r", 2.7, 2.8, "ok", ("completed", ON_A_PAGE)),
    ],
    rows={"r": Row("r", ("completed", "yes"), 61.0, 1)},
    outbox=[Delivery("r", "r:claim:1", "e1", CLAIM), Delivery("r", "r:end", "e2", BODY)],
    posts=[("e1", CLAIM), ("e2", BODY), ("e2", BODY)],
    listings=[
        Listing("b", "completed", 1.9, 2.05, 0, []),
        Listing("b", "completed", 2.2, 2.3, 1, [("r", "completed")]),
        Listing("b", "completed", 2.2, 2.3, 1, [], offset=1),
    ],
    charges=[Charge(1.1, True), Charge(2.2, True), Charge(2.4, True), Charge(2.6, False)],
    usage=Usage(calls=3, credits=0),
)
ROW = TRUE.rows["r"]


def with_call(*call: object) -> History:
    return dataclasses.replace(TRUE, calls=[*TRUE.calls, Call(*call)])  # type: ignore[arg-type]


def with_row(row: Row) -> History:
    return dataclasses.replace(TRUE, rows={"r": row})


def with_list(*listing: object) -> History:
    return dataclasses.replace(TRUE, listings=[Listing(*listing)])  # type: ignore[arg-type]


def with_usage(calls: int = 3, credits: int = 0) -> History:
    return dataclasses.replace(TRUE, usage=Usage(calls, credits))


def test_what_is_true_passes() -> None:
    assert TRUE.faults() == []


def test_what_a_write_in_time_holds_may_be_pending() -> None:
    """The answer began at 2.0 and ended at 2.1: the deadline passed in between."""
    late = with_row(dataclasses.replace(ROW, timeout_at=2.05))
    read = Call("b", "read", "r", 2.08, 2.2, "ok", ("pending", None))
    assert dataclasses.replace(late, calls=[*late.calls, read]).faults() == []


def test_a_crash_may_forget_the_calls_before_it_alone() -> None:
    crashed = dataclasses.replace(TRUE, crashes=[3.2], usage=Usage(calls=1, credits=0))
    assert crashed.faults() == []
    assert dataclasses.replace(crashed, usage=Usage(calls=0, credits=0)).faults() != []


def test_a_longer_list_shows_the_newest() -> None:
    """What is older than the oldest on the page need not be on it; what is newer must be."""
    ids = {name: f"{number:012x}" + "0" * 12 for name, number in (("old", 1), ("new", 10**6))}
    rows = {key: dataclasses.replace(ROW, request_id=key, claims=0) for key in ids.values()}
    ends = [Call("c", "answer", key, 2.0, 2.1, "ok", ("completed", "yes")) for key in ids.values()]
    history = History(calls=ends, rows=rows, outbox=[], posts=[])

    def missing(shown: str) -> list[str]:
        page = Listing("b", "completed", 2.2, 2.3, 2, [(ids[shown], "completed")])
        return list(dataclasses.replace(history, listings=[page]).missing_from_lists())

    assert missing("new") == []
    assert missing("old") == [f"{ids['new']} is missing from the list of completed"]


LIES = {
    "was created and is not there": with_call("a", "create", "s", 3, 3.1, "ok"),
    "ended as": with_call("b", "read", "r", 3, 3.1, "ok", ("timeout", "no")),
    "was acknowledged, but": with_call("c", "answer", "r", 3, 3.1, "ok", ("completed", "no")),
    "was final and then": with_call("b", "read", "r", 3, 3.1, "ok", ("pending", None)),
    "after its deadline": with_row(dataclasses.replace(ROW, timeout_at=1.2)),
    "before its deadline": with_call("b", "read", "r", 3, 3.1, "ok", ("timeout", None)),
    "which cannot be: from 1 to 1": with_list("b", "completed", 2.2, 2.3, 0, []),
    "which cannot be: from 0 to 0": with_list("b", "completed", 1.0, 1.9, 1, []),
    "was pending in the list of": with_list("b", "completed", 2.2, 2.3, 1, [("r", "pending")]),
    "was completed in the list of": with_list("b", "pending", 2.2, 2.3, 1, [("r", "completed")]),
    "saw a request twice": with_list("b", "completed", 2.2, 2.3, 1, [("r", "completed")] * 2),
    "is missing from the list": with_list("b", "completed", 2.2, 2.3, 1, [("q", "completed")]),
    "counts 2 calls, which cannot be: from 3 to 4": with_usage(calls=2),
    "counts 5 calls, which cannot be: from 3 to 4": with_usage(calls=5),
    "1 credits for 0 cancelled": with_usage(credits=1),
    'ended as ["cancelled"': with_call("b", "page", "r", 3, 3.1, "ok", ("cancelled", ON_A_PAGE)),
    "never ended": with_row(dataclasses.replace(ROW, state=("pending", None))),
    "has the events": with_row(dataclasses.replace(ROW, claims=2)),
    "r:end was not received": dataclasses.replace(TRUE, posts=TRUE.posts[:1]),
    "not in the outbox": dataclasses.replace(TRUE, posts=[*TRUE.posts, ("e1", BODY)]),
}


@pytest.mark.parametrize("sentence", LIES)
def test_every_lie_is_found(sentence: str) -> None:
    assert any(sentence in fault for fault in LIES[sentence].faults()), LIES[sentence].faults()
