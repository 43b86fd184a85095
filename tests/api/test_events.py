"""GET /api/events, against the real web server: one for all tests of this module."""

import base64
import itertools
import json
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
import requests
from cryptography.fernet import Fernet
from django.db import connection
from django.db.models.functions import Now
from pytest_django import Settings

from accounts.models import ApiKey, User
from reviews import services
from reviews.lifecycle.transitions import CHANGED_CHANNEL
from reviews.models import Request
from tests.backends import backends
from tests.conftest import Api, key_of
from tests.reviews.conftest import Make, make, make_overdue
from tests.serving import database_url, start
from tests.waiting import stretched, wait_until
from webhooks import places
from webhooks.event_ids import event_id
from webhooks.models import Delivery, LoggedEvent

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["make"]  # a fixture
PATH = "/v1/api/events"
HOOK = "http://127.0.0.1:9/hook"
LATER = 20.0  # seconds to wait for what comes at once on a quiet machine


class Stream:
    """A client of server-sent events that reads as the standard says."""

    def __init__(self, site: str, key: str, last_id: str = "", after: str = "") -> None:
        headers = {"Authorization": f"Bearer {key}"}
        headers |= {"Last-Event-ID": last_id} if last_id else {}
        self.response = requests.get(
            site + PATH,
            {"after": after} if after else {},
            headers=headers,
            stream=True,
            timeout=stretched(LATER),
        )
        self.last_id = last_id
        self.comments: list[str] = []
        self._lines = self.response.iter_lines(chunk_size=1)

    def close(self) -> None:
        self.response.close()

    def blocks(self) -> Iterator[dict[str, str]]:
        """What stands between empty lines."""
        fields: dict[str, str] = {}
        for raw in self._lines:
            line = raw.decode()
            name, _, value = line.partition(": ")
            if line == "":
                self.last_id = fields.get("id", self.last_id)
                yield fields
                fields = {}
            elif name == "":
                self.comments.append(value)
            else:
                fields[name] = value

    def next(self) -> dict[str, str]:
        """The next event."""
        return next(block for block in self.blocks() if "data" in block)

    def names(self, count: int) -> list[str]:
        return [self.next()["event"] for _ in range(count)]


@pytest.fixture
def key(owner: User) -> str:
    return key_of(owner, hourly_limit=1000)


class Open:
    """Opens streams, and closes them when the test ends."""

    def __init__(self, site: str, key: str) -> None:
        self.site, self.key = site, key
        self.opened: list[Stream] = []

    def __call__(self, key: str = "", **more: str) -> Stream:
        stream = Stream(more.pop("site", self.site), key or self.key, **more)
        assert stream.response.status_code == 200, stream.response.text
        self.opened.append(stream)
        next(stream.blocks())  # the beginning: it has a seat
        return stream


@pytest.fixture
def listen(service: str, key: str) -> Iterator[Open]:
    opener = Open(service, key)
    yield opener
    for stream in opener.opened:
        stream.close()


def wake_up(account_id: str) -> None:
    """Wakes the streams of the account, as an event does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANGED_CHANNEL, account_id])


def live(make: Make, owner: User, member: User) -> list[Request]:
    """Four requests with six events; one of them has a callback."""
    answered, plain, cancelled, late = made = [make(callback_url=HOOK), make(), make(), make()]
    for request in (answered, plain):
        services.claim_request(request=request, reviewer_id=member.pk)
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    services.cancel_request(request_id=cancelled.pk, account_id=owner.pk)
    make_overdue(late)  # nobody sweeps here
    return made


NAMES = [*("request.claimed", "request.completed") * 2, "request.cancelled"]


def test_what_happens_arrives(
    listen: Open, make: Make, owner: User, member: User, outsider: User
) -> None:
    stream = listen()
    foreign, foreign_account = listen(key_of(outsider)), outsider.pk
    head = stream.response.headers
    assert head["Content-Type"] == "text/event-stream"
    assert (head["Cache-Control"], head["X-Accel-Buffering"]) == ("no-store", "no")
    assert head["X-RateLimit-Remaining"] == "999"  # a stream costs one call

    made = live(make, owner, member)
    events = [stream.next() for _ in NAMES]
    assert [event["event"] for event in events] == NAMES
    bodies = [json.loads(event["data"]) for event in events]
    first, second, third, _ = (request.pk for request in made)
    assert [body["request_id"] for body in bodies] == [first, first, second, second, third]
    assert [body["event"] for body in bodies] == NAMES
    assert bodies[3]["response_data"] == "yes"
    assert bodies[3]["data"]["reviewer"]["email"] == "member@example.com"
    sent = {row.pk: bytes(row.body).decode() for row in Delivery.objects.all()}
    assert sent == {event["id"]: event["data"] for event in events[:2]}

    usage = requests.get(
        f"{listen.site}/v1/test", headers={"Authorization": f"Bearer {listen.key}"}, timeout=30
    )
    assert usage.headers["X-RateLimit-Remaining"] == "998"
    wake_up(owner.pk)
    assert stream.next()["event"] == "request.timeout"  # the stream settles what is due
    wake_up(foreign_account)
    assert "data" not in next(foreign.blocks())  # woken, with nothing to tell


def test_it_goes_on_behind_any_event(listen: Open, make: Make, owner: User, member: User) -> None:
    stream = listen()
    live(make, owner, member)
    ids = [stream.next()["id"] for _ in NAMES]
    begun = stream.last_id
    stream.close()
    for number, each in enumerate(ids[:-1]):
        for again in (listen(last_id=each), listen(after=each)):
            # Earlier ones may come again: other tests have transactions under way.
            found = [found for found in ids_until(again, ids[-1]) if found not in ids[:number]]
            assert found == ids[number + 1 :]
    both = listen(last_id=ids[3], after=ids[0])  # a client that came back
    assert ids[3] not in ids_until(both, ids[4])
    assert begun == ids[-1]


def ids_until(stream: Stream, last: str) -> list[str]:
    """The ids of the next events, up to this one."""
    found = [""]
    while found[-1] != last:
        found.append(stream.next()["id"])
    return found[1:]


def test_who_comes_back_before_anything_happened_misses_nothing(
    listen: Open, make: Make, owner: User
) -> None:
    stream = listen()
    stream.close()
    assert stream.last_id
    request = make()
    services.cancel_request(request_id=request.pk, account_id=owner.pk)
    assert listen(last_id=stream.last_id).names(1) == ["request.cancelled"]


def test_a_commit_that_comes_late(listen: Open, make: Make, owner: User) -> None:
    stream = listen()
    cancelled, late = make(), make()
    late_id = event_id(subject_id=late.pk, occurrence=f"{late.pk}:end", account_id=owner.pk)
    with closing(psycopg.connect(database_url())) as other:
        other.execute(
            "INSERT INTO webhooks_loggedevent (id, account_id, name, body, transaction_id, horizon,"
            " created_at) VALUES (%s, %s, 'late', '{}', pg_current_xact_id(),"
            " pg_snapshot_xmin(pg_current_snapshot()), clock_timestamp())",
            [late_id, owner.pk],
        )
        services.cancel_request(request_id=cancelled.pk, account_id=owner.pk)
        last = stream.next()
        assert last["event"] == "request.cancelled"  # and was not held up
        other.commit()
    assert listen(last_id=last["id"]).next()["event"] == "late"
    services.cancel_request(request_id=late.pk, account_id=owner.pk)
    assert stream.next()["event"] == "late"


def test_what_a_killed_server_did_not_send_comes_from_the_next(
    listen: Open, make: Make, owner: User, tmp_path: Path
) -> None:
    server, address = start(tmp_path / "killed.log")
    try:
        stream = listen(site=address)
        requests_made = [make() for _ in range(3)]
        services.cancel_request(request_id=requests_made[0].pk, account_id=owner.pk)
        assert stream.names(1) == ["request.cancelled"]
    finally:
        server.kill()
        server.wait(20)
    for request in requests_made[1:]:
        services.cancel_request(request_id=request.pk, account_id=owner.pk)
    with pytest.raises(requests.RequestException):
        stream.next()
    back = listen(last_id=stream.last_id)
    assert [json.loads(back.next()["data"])["request_id"] for _ in range(2)] == [
        request.pk for request in requests_made[1:]
    ]


def test_a_key_that_is_revoked_meanwhile(listen: Open, make: Make, owner: User) -> None:
    stream, other = listen(), listen(key_of(owner))
    ApiKey.objects.filter(hourly_limit=1000).update(state=ApiKey.State.DELETED)
    request = make()
    services.cancel_request(request_id=request.pk, account_id=owner.pk)
    event = stream.next()
    assert (event["event"], json.loads(event["data"])) == (
        "stream.closed",
        {"error": True, "msg": "Invalid API key", "data": {}, "status": 401},
    )
    assert list(stream.blocks()) == []
    assert other.names(1) == ["request.cancelled"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"permissions": ["loops:read"]}, 403),
        ({"expires_at": Now() - timedelta(seconds=1)}, 401),
        ({"state": ApiKey.State.INACTIVE}, 401),
    ],
)
def test_a_key_that_may_no_longer_read(
    listen: Open, make: Make, owner: User, changes: dict[str, object], status: int
) -> None:
    stream, request = listen(), make()
    ApiKey.objects.update(**changes)
    services.cancel_request(request_id=request.pk, account_id=owner.pk)
    event = stream.next()
    assert event["event"] == "stream.closed"
    assert json.loads(event["data"])["status"] == status
    assert list(stream.blocks()) == []


def test_an_account_that_is_deactivated_meanwhile(listen: Open, owner: User) -> None:
    stream = listen()
    User.objects.filter(pk=owner.pk).update(is_active=False)
    wake_up(owner.pk)
    assert json.loads(stream.next()["data"])["msg"] == "Access denied to this resource"


def test_it_beats_and_keeps_nothing_in_the_database(listen: Open) -> None:
    streams = [listen() for _ in range(10)]
    assert len(backends()) <= 4 + 1 + 1  # the threads', readiness, and the listener
    markers = [stream.last_id for stream in streams]
    for stream in streams:
        assert "data" not in next(stream.blocks())
    assert streams[0].comments == ["nothing new"]
    assert all(stream.last_id != was for stream, was in zip(streams, markers, strict=True))


def test_a_key_has_so_many(listen: Open) -> None:
    for _ in range(50):
        listen()
    refused = Stream(listen.site, listen.key).response
    assert (refused.status_code, refused.json()["msg"]) == (429, "Too many event streams")
    assert refused.headers["Retry-After"] == "30"
    for stream in listen.opened:
        stream.close()

    def is_free() -> bool:
        with closing(Stream(listen.site, listen.key)) as stream:
            return stream.response.status_code == 200

    wait_until(is_free)


# Without a server that keeps streams, what there is comes at once.


@pytest.mark.parametrize("place", ["unknown", "old", "foreign", "transaction 0"])
def test_a_place_that_the_log_does_not_know(
    api: type[Api], key: str, make: Make, owner: User, outsider_key: str, place: str
) -> None:
    request = make()
    services.cancel_request(request_id=request.pk, account_id=owner.pk)
    (event_id,) = LoggedEvent.objects.values_list("pk", flat=True)
    now = f"{time.time():.6f}".replace(".", "")
    asked = {
        "unknown": request.pk, "old": places.seal(owner.pk, "1000.3"), "foreign": event_id,
        "transaction 0": places.seal(owner.pk, f"{now}.0"),
    }[place]  # fmt: skip
    client = api(outsider_key if place == "foreign" else key)
    response = client.get(f"{PATH}?after={asked}")
    assert response.status_code == 200
    text = response.content.decode()
    assert text.count("event: ") == 1
    assert "event: stream.reset\n" in text
    assert request.pk not in text.replace(asked, "")


@pytest.mark.parametrize("place", ["x", "1.", "12", "1.2.3", "1000.3", "9" * 30, "١.٢", "A" * 92])
def test_a_place_that_makes_no_sense(api: type[Api], key: str, place: str) -> None:
    refused = api(key).get(f"{PATH}?after={quote(place)}")
    assert (refused.status_code, refused.json()["data"]) == (
        400,
        "after must be the id of an event",
    )
    refused = api(key).get(PATH, **{"Last-Event-ID": "x"})
    assert refused.json()["data"] == "Last-Event-ID must be the id of an event"


def begun(client: Api) -> str:
    """The place where a new stream begins."""
    (place,) = ids_in(client.get(PATH).content.decode())
    return place


def test_a_place_shows_nothing_of_the_service(api: type[Api], key: str, outsider_key: str) -> None:
    """Two places of one account, and one of another, have nothing in common but their length."""
    found = [begun(api(each)) for each in (key, key, outsider_key)]
    assert [len(place) for place in found] == [92] * 3
    at_all = [list(zip(*pair, strict=True)) for pair in itertools.combinations(found, 2)]
    assert all(sum(a == b for a, b in pairs) < 20 for pairs in at_all)  # 1.4 by chance
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text")
        (counter,) = cursor.fetchone()
    opened = [base64.urlsafe_b64decode(place) for place in found]
    assert not [text for text in opened if counter.encode() in text]


def test_a_place_that_was_changed_or_is_anothers(
    api: type[Api], key: str, outsider_key: str
) -> None:
    client = api(key)
    place = begun(client)
    assert client.get(f"{PATH}?after={place}").status_code == 200
    other = {"A": "B"}
    changed = [f"{place[:at]}{other.get(place[at], 'A')}{place[at + 1 :]}" for at in range(92)]
    for wrong in (*changed, place[:-1], f"{place}A", begun(api(outsider_key))):
        refused = client.get(f"{PATH}?after={wrong}")
        assert refused.status_code == 400, wrong
        assert refused.json()["data"] == "after must be the id of an event"


def test_a_place_outlives_a_change_of_the_key(api: type[Api], key: str, settings: Settings) -> None:
    client = api(key)
    place = begun(client)
    former = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *former]
    again = client.get(f"{PATH}?after={place}").content.decode()
    assert again == "retry: 2000\n\n"
    new = begun(client)
    settings.ENCRYPTION_KEYS = former
    assert client.get(f"{PATH}?after={new}").status_code == 400


def ids_in(text: str) -> list[str]:
    return [line[4:] for line in text.split("\n") if line.startswith("id: ")]


def test_more_than_a_page(api: type[Api], key: str, make: Make, owner: User) -> None:
    requests_made = [make() for _ in range(3)]
    for request in requests_made:
        services.cancel_request(request_id=request.pk, account_id=owner.pk)
    ids = list(LoggedEvent.objects.order_by("created_at").values_list("pk", flat=True))
    text = api(key).get(f"{PATH}?after={ids[0].upper()}").content.decode()
    assert ids_in(text) == ids[1:]
    again = api(key).get(PATH, **{"Last-Event-ID": ids[2]}).content.decode()
    assert again.startswith("retry: 2000\n\n")
    # Earlier ones may come again where other transactions were under way, of other tests as well.
    assert {*ids_in(again)} <= {*ids[:2]}


def test_who_may_not_read(api: type[Api], owner: User) -> None:
    refused = api(key_of(owner, permissions=["loops:read"])).get(PATH)
    assert (refused.status_code, refused.json()["msg"]) == (403, "Access denied to this resource")
