"""Asks a question that outlives the asking process.

The file of the question is written before the create is sent, and holds its Idempotency-Key.
Wherever a process dies, the next one either repeats the same create, which the service recognizes,
or finds the request's id or the answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reviewloop.asked import complete
from reviewloop.errors import ApiError, KeyReused, ResumeConflict
from reviewloop.state import Record, State, name_file, remove_old_files
from reviewloop.transport import log
from reviewloop.types import Request
from reviewloop.unique import derive_key, new_key

if TYPE_CHECKING:
    from reviewloop.client import Client

REPLAYED_SECONDS = 23 * 3600  # the service stores a key for 24 hours
SKEW_SECONDS = 3600  # how far the clocks may differ
# Refusals after which the request may exist, unless this is the first attempt.
UNCERTAIN = (401, 403, 408, 409, 429)


def ask_once(
    client: Client, fields: Mapping[str, Any], loop: str | None, traceparent: str | None
) -> Request:
    """Asks, and waits for the end of the request."""
    found = client.loops.find(loop)
    created = client.requests.send(found["id"], complete(fields), new_key(), traceparent)
    log.info("Asked: request %s", created["request_id"])
    return client.requests.wait(created["request_id"])


def ask_resumably(
    client: Client,
    fields: Mapping[str, Any],
    loop: str | None,
    traceparent: str | None,
    resume: str | os.PathLike[str],
) -> Request:
    """Asks unless the question of this name is already asked; waits for its end."""
    state, key = open_state(client, resume)
    record = state.load()
    is_new = record is None
    if record is None:
        loop_id = client.loops.find(loop)["id"]
        body = complete({**fields, "platform_version": describe(key)})
        record = state.create(Record(loop, loop_id, body, key, time.time()))
    record.check_same(fields, loop, f"resume={os.fspath(resume)!r}")
    if record.request is not None:
        return record.request
    if record.request_id is None:
        placed = place(client, state, record, traceparent, is_new=is_new)
        record = state.update(record, request_id=placed)
    log.info("Asked: request %s", record.request_id)
    assert record.request_id is not None
    request = client.requests.wait(record.request_id)
    state.update(record, request=request)
    return request


def open_state(client: Client, resume: str | os.PathLike[str]) -> tuple[State, str]:
    """Returns the file of a name or a path, and the key of a first create."""
    given = os.fspath(resume)
    if not given:
        raise ValueError("resume is empty")
    if isinstance(resume, str) and not is_path(given):
        remove_old_files()
        account_id = client.check()["user_id"]
        return State(name_file(client.url, account_id, given)), derive_key(given)
    return State(Path(given)), new_key()


def is_path(resume: str) -> bool:
    """Tells whether a text is the path of a file, not a name."""
    return os.sep in resume or "/" in resume or resume.endswith(".json")


def place(
    client: Client, state: State, record: Record, traceparent: str | None, *, is_new: bool
) -> str:
    """Sends the stored create and returns the request's id. Raises ApiError, ResumeConflict."""
    if time.time() - record.begun_at > REPLAYED_SECONDS and (found := find_again(client, record)):
        return found
    try:
        created = client.requests.send(
            record.loop_id, record.body, record.idempotency_key, traceparent
        )
    except KeyReused:
        state.discard()
        raise ResumeConflict("resume: this name belongs to another question") from None
    except ApiError as error:
        if is_refused(error, is_new=is_new):
            state.discard()  # no request exists, so the name is free
        raise
    return created["request_id"]


def is_refused(error: ApiError, *, is_new: bool) -> bool:
    """Tells whether the refusal proves that no request exists."""
    if error.status >= 500 or error.status in (408, 409, 429):
        return False
    return (is_new and not error.repeats) or error.status not in UNCERTAIN


def find_again(client: Client, record: Record) -> str | None:
    """Finds the request of a create whose answer was lost more than a day ago."""
    for listed in client.requests.list(loop_id=record.loop_id, sort="created_at_desc"):
        created_at = datetime.strptime(listed["created_at"], "%Y-%m-%dT%H:%M:%S.%fZ")
        if created_at.replace(tzinfo=timezone.utc).timestamp() < record.begun_at - SKEW_SECONDS:
            return None
        if listed["request_text"] == record.body["request_text"]:
            request = client.requests.get(listed["id"])
            if request["platform_version"] == record.body["platform_version"]:
                return listed["id"]
    return None


def describe(key: str) -> str:
    """Returns the `platform_version` that identifies the request."""
    return f"reviewloop-python; {key}"
