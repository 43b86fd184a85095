"""`metadata` of a request: who reads it, and lists that are filtered by it."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loops.models import Loop
from reviews.models import Request
from reviews.queries.listing import ORDERS
from tests.api import moments
from tests.api.bodies import question
from tests.api.wire import Api, Ask, granted, json_of, refused
from webhooks.models import Delivery, LoggedEvent

pytestmark = pytest.mark.django_db

INVALID = "Validation failed"
LISTED = "Requests retrieved successfully"
OF_LOOP = "Loop requests retrieved successfully"
READ = "Request retrieved successfully"
AWKWARD = {
    "order": "1042",
    "__proto__": "a key like any other",
    "constructor": "",
    "a]b[c=d&e": "x=y&z",
    "1:a": "b",
    "Größe 😀": "\x01 \u2028 </script> \\ \"'",
    "k" * 40: "😀" * 500,
    " ": " ",
}
NO_STRINGS: list[Any] = [1042, None, True, {}, ["x"]]
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def filter_by(metadata: dict[str, str]) -> str:
    return "?" + urlencode({f"metadata[{name}]": value for name, value in metadata.items()})


def find(api: Api, key: str, query: str, path: str = "/v1/api/requests") -> list[str]:
    """The ids that the list under this query shows; its total is as exact as ever."""
    data = granted(
        api(key).get(f"{path}{query}"), LISTED if path.endswith("i/requests") else OF_LOOP
    )
    assert data["total"] == data["count"] == len(data["requests"])
    return [entry["id"] for entry in data["requests"]]


def read(api: Api, key: str, request_id: str) -> dict[str, Any]:
    shown: dict[str, Any] = granted(api(key).get(f"/v1/api/requests/{request_id}"), READ)["request"]
    return shown


@pytest.mark.contract("create.metadata", "request.metadata")
def test_it_is_read_as_it_was_sent(api: Api, plenty: str, ask: Ask) -> None:
    shown = read(api, plenty, ask(metadata=AWKWARD))
    assert list(shown["metadata"].items()) == list(AWKWARD.items())


@pytest.mark.contract("create.metadata", "request.metadata")
@pytest.mark.parametrize("without", [{}, {"metadata": None}, {"metadata": {}}])
def test_a_request_without_it_is_as_before(
    api: Api, plenty: str, ask: Ask, without: dict[str, Any]
) -> None:
    asked = ask(**without)
    assert "metadata" not in read(api, plenty, asked)
    assert Request.objects.get(pk=asked).metadata is None


@pytest.mark.contract("request.metadata")
def test_only_the_account_sees_it(
    api: Api, plenty: str, member_key: str, outsider_key: str, loop: Loop, ask: Ask
) -> None:
    asked = ask(metadata={"order": "secret-1042"})
    other = ask()
    mine, theirs = read(api, plenty, asked), read(api, member_key, asked)
    assert mine.pop("metadata") == {"order": "secret-1042"}
    assert theirs == mine
    refused(
        api(outsider_key).get(f"/v1/api/requests/{asked}"), 403, "Access denied to this request", {}
    )
    # nor do filters tell it
    path = f"/v1/api/loops/{loop.pk}/requests"
    assert find(api, plenty, "?metadata[order]=secret-1042", path) == [asked]
    assert find(api, member_key, "?metadata[order]=secret-1042", path) == []
    assert find(api, member_key, "", path) == [other, asked]
    assert find(api, member_key, "?metadata[order]=secret-1042") == []
    for response in (
        api(member_key).get(path),
        api(plenty).get(path),
        api(plenty).get("/v1/api/requests"),
    ):
        assert "secret-1042" not in response.content.decode()


@pytest.mark.contract("request.metadata")
def test_events_have_it(api: Api, plenty: str, ask: Ask) -> None:
    for given_ in ({"order": "1042"}, None):
        asked = ask(metadata=given_, callback_url="http://127.0.0.1:9/")
        moments.let_pass(asked, seconds=4000)
        read(api, plenty, asked)
        [event] = LoggedEvent.objects.all()
        shown = json.loads(bytes(event.body or Delivery.objects.get(pk=event.pk).body or b""))[
            "data"
        ]["request"]
        assert shown.get("metadata") == given_
        assert ("metadata" in shown) == bool(given_)
        event.delete()


@pytest.mark.contract("create.metadata")
@pytest.mark.parametrize(
    ("value", "detail"),
    [
        *((value, "metadata must be an object") for value in ([], "x", 5, True, [["a", "b"]])),
        ({str(n): "" for n in range(17)}, "metadata must have at most 16 entries"),
        ({"": "x"}, "metadata must have names of 1 to 40 characters"),
        ({"k" * 41: "x"}, "metadata must have names of 1 to 40 characters"),
        *(({"a": "b", "order": value}, "metadata.order must be a string") for value in NO_STRINGS),
        ({"__proto__": {}}, "metadata.__proto__ must be a string"),
        ({"order": "😀" * 501}, "metadata.order must be at most 500 characters"),
    ],
)
def test_what_it_does_not_take(api: Api, plenty: str, loop: Loop, value: Any, detail: str) -> None:
    response = api(plenty).post(f"/v1/api/loops/{loop.pk}/requests", question(metadata=value))
    refused(response, 400, INVALID, detail)
    assert not Request.objects.exists()


@pytest.mark.contract("create.metadata")
@pytest.mark.parametrize("value", [{"order": "a\0"}, {"a\0": "b"}, {"order": "\ud800"}])
def test_what_cannot_be_stored(api: Api, plenty: str, loop: Loop, value: Any) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    response = api(plenty).post(path, question(metadata=value))
    assert (response.status_code, json_of(response)["msg"]) == (400, "Invalid request body")
    assert "metadata" in json_of(response)["data"]


@pytest.mark.contract("list.metadata")
def test_a_filter_finds_what_has_all_pairs(
    api: Api, plenty: str, outsider_key: str, loop: Loop, ask: Ask
) -> None:
    both, one, other, without = (
        ask(metadata={"order": "1042", "env": "prod"}),
        ask(metadata={"order": "1042", "env": "test"}, priority="low"),
        ask(metadata={"order": "1043", "1042": "order"}),
        ask(),
    )
    for path in ("/v1/api/requests", f"/v1/api/loops/{loop.pk}/requests"):
        assert find(api, plenty, "?metadata[order]=1042", path) == [one, both]
        assert find(api, plenty, "?metadata%5Border%5D=1042&metadata[env]=prod", path) == [both]
        assert find(api, plenty, "?metadata[order]=1042&priority=low&status=pending", path) == [one]
        assert find(api, plenty, "?metadata[order]=1042&status=timeout", path) == []
        assert find(api, plenty, "?metadata[order]=104", path) == []
        assert find(api, plenty, "?metadata[Order]=1042", path) == []
        assert find(api, plenty, "", path) == [without, other, one, both]
    assert find(api, plenty, f"?metadata[order]=1042&loop_id={loop.pk}") == [one, both]
    assert find(api, outsider_key, "?metadata[order]=1042") == []


@pytest.mark.contract("list.metadata")
@pytest.mark.parametrize("pair", AWKWARD.items())
def test_awkward_pairs_are_found(api: Api, plenty: str, ask: Ask, pair: tuple[str, str]) -> None:
    ask(metadata={"1": ":ab", "k": "x"})
    asked = ask(metadata=AWKWARD)
    assert find(api, plenty, filter_by(dict([pair]))) == [asked]
    assert find(api, plenty, filter_by(AWKWARD)) == [asked]


@pytest.mark.contract("list.metadata", "list.total", "list.cursor", "list.pagination")
@pytest.mark.parametrize("sort", ORDERS)
@pytest.mark.parametrize("status", ["", "&status=pending"])
def test_pages_of_a_filter(api: Api, plenty: str, ask: Ask, sort: str, status: str) -> None:
    wanted = []
    for number in range(6):
        ask(metadata={"env": "test"})
        priority = ("low", "high", "critical")[number % 3]
        wanted.append(ask(metadata={"env": "prod"}, priority=priority))
        if number % 2:
            moments.let_pass(wanted[-1], seconds=4000)
    path = f"/v1/api/requests?metadata[env]=prod&sort={sort}&limit=2{status}"
    kept = [asked for number, asked in enumerate(wanted) if not status or number % 2 == 0]
    by_offset, by_cursor = [], []
    for offset in range(0, 6, 2):
        data = granted(api(plenty).get(f"{path}&offset={offset}"), LISTED)
        assert data["total"] == len(kept)
        by_offset += [entry["id"] for entry in data["requests"]]
    cursor: str | None = ""
    while cursor is not None:
        data = granted(api(plenty).get(f"{path}&cursor={cursor}"), LISTED)
        assert data["total"] == len(kept)
        by_cursor += [entry["id"] for entry in data["requests"]]
        cursor = data["pagination"]["next_cursor"]
    assert by_cursor == by_offset
    assert sorted(by_offset) == sorted(kept)


SYNTAX = "metadata must be written as metadata[name]=value, with a name of 1 to 40 characters"


@pytest.mark.contract("list.metadata", "list.bad_query")
@pytest.mark.parametrize(
    ("query", "detail"),
    [
        *(
            (query, SYNTAX)
            for query in (
                "metadata=order",
                "metadata[]=x",
                "metadata[order=x",
                "metadata[=x",
                "metadata[a]b=x",
                f"metadata[{'k' * 41}]=x",
            )
        ),
        (f"metadata[order]={'x' * 501}", "metadata[order] must be at most 500 characters"),
        ("metadata[order]=a%00", "metadata[order] must not contain NUL characters"),
        ("metadata[a%00]=a", "a name in metadata must not contain NUL characters"),
        ("metadata[order]=1&metadata[order]=2", "metadata[order] must have one value"),
        ("&".join(f"metadata[{n}]=" for n in range(17)), "metadata must have at most 16 entries"),
        (
            "metadata[]=x&status=x",
            "status must be one of: pending, claimed, completed, timeout, cancelled",
        ),
    ],
)
def test_filters_it_does_not_take(
    api: Api, plenty: str, loop: Loop, query: str, detail: str
) -> None:
    for path in ("/v1/api/requests", f"/v1/api/loops/{loop.pk}/requests"):
        refused(api(plenty).get(f"{path}?{query}"), 400, INVALID, detail)


@given(
    stored=st.lists(st.dictionaries(texts.filter(bool), texts, max_size=4), min_size=1, max_size=5),
    sought=st.dictionaries(texts.filter(bool), texts, min_size=1, max_size=2),
    data=st.data(),
)
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
def test_any_pairs_come_back_and_are_found(
    api: Api,
    plenty: str,
    ask: Ask,
    stored: list[dict[str, str]],
    sought: dict[str, str],
    data: st.DataObject,
) -> None:
    Request.objects.all().delete()
    kept = {ask(metadata=each): each for each in stored}
    for asked, each in kept.items():
        assert read(api, plenty, asked).get("metadata", {}) == each
    if some := [each for each in stored if each]:
        sought = data.draw(st.just(sought) | st.sampled_from(some))
    matching = [asked for asked, each in kept.items() if sought.items() <= each.items()]
    assert find(api, plenty, filter_by(sought)) == matching[::-1]
