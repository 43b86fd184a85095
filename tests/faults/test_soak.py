"""What `make soak` calls growth."""

from tests.faults.soak import KINDS, Look, growths, report, table


def look(minute: int, *, web: float = 100, connections: int = 20, requests: float = 10) -> Look:
    memory = {**dict.fromkeys(KINDS, 50.0), "web": web}
    tables = {"reviews_request": requests, "small": minute / 20}
    return Look(minute * 60.0, memory, connections, tables, 500, minute * 900)


def test_what_stays_within_a_tenth_has_not_grown() -> None:
    looks = [look(minute, web=100 + minute / 4, requests=10 + minute % 2) for minute in range(20)]
    assert growths(looks) == []
    assert table(looks)[-1] == "| 19 | 105 | 50 | 50 | 50 | 50 | 20 | 11.9 | 500 | 17,100 |"
    lines = report(looks, "abc123")
    assert ", of commit abc123, " in lines[2]
    assert lines[-3:] == ["| `reviews_request` | 10.6 | 10.6 |", "| `small` | 0.3 | 0.8 |", ""]


def test_what_goes_on_growing_is_named() -> None:
    looks = [
        look(minute, web=100 + 2 * minute, connections=20 + minute, requests=10 + minute)
        for minute in range(20)
    ]
    assert growths(looks) == [
        "web grew from 114.0 to 134.0",
        "connections grew from 27.0 to 37.0",
        "reviews_request grew from 17.0 to 27.0",
    ]


def test_what_was_large_at_the_beginning_may_shrink() -> None:
    assert growths([look(minute, web=200 - minute) for minute in range(20)]) == []
