"""Loops: the groups of people who answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from reviewloop.errors import LoopNotChosen
from reviewloop.transport import Transport, log
from reviewloop.types import InvitingLoop, Loop, Member
from reviewloop.unique import new_key

_ID = re.compile(r"[0-9a-fA-F]{24}")
FIRST_LOOP = "Questions"


class Loops:
    """`/api/loops`"""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[Loop]:
        """Yields the loops that the account created."""
        yield from self._transport.call("GET", "/api/loops").data["loops"]

    def get(self, loop_id: str) -> InvitingLoop:
        """Reads a loop with its join link."""
        data = self._transport.call("GET", f"/api/loops/{loop_id}").data
        return cast("InvitingLoop", data["loop"])

    def create(
        self,
        name: str,
        *,
        icon: str = "chat",
        idempotency_key: str | None = None,
        **more: Any,
    ) -> InvitingLoop:
        """Creates a loop; `more` are further fields, such as `description`."""
        key = idempotency_key or new_key()
        body = {"name": name, "icon": icon, **more}
        made = self._transport.call("POST", "/api/loops", body=body, idempotency_key=key).data
        return cast("InvitingLoop", {**made, **made["loop"]})

    def update(self, loop_id: str, **changes: Any) -> InvitingLoop:
        """Changes the given fields."""
        data = self._transport.call("PUT", f"/api/loops/{loop_id}", body=changes).data
        return cast("InvitingLoop", data["loop"])

    def delete(self, loop_id: str) -> None:
        """Deletes a loop, which cancels its open requests."""
        self._transport.delete(f"/api/loops/{loop_id}")

    def members(self, loop_id: str) -> Sequence[Member]:
        """Lists the members."""
        data = self._transport.call("GET", f"/api/loops/{loop_id}/members").data
        return cast("Sequence[Member]", data["members"])

    def remove_member(self, loop_id: str, user_id: str) -> None:
        """Removes a member; the requests they claimed are open again."""
        self._transport.delete(f"/api/loops/{loop_id}/members/{user_id}")

    def find(self, name_or_id: str | None = None) -> Loop:
        """Finds a loop by its id or its name; None is the only one of the account.

        If the account has no loop and the argument is None, creates the first one.
        Raises LoopNotChosen.
        """
        loops = list(self.list())
        if name_or_id is None:
            return loops[0] if len(loops) == 1 else self._make_first(loops)
        found = [loop for loop in loops if loop["name"] == name_or_id]
        if not found and _ID.fullmatch(name_or_id):
            found = [loop for loop in loops if loop["id"] == name_or_id.lower()]
        if len(found) == 1:
            return found[0]
        if found:
            raise LoopNotChosen(f"{len(found)} loops are called {name_or_id!r}: use an id")
        raise LoopNotChosen(f"There is no loop {name_or_id!r}. {_name_them(loops)}")

    def _make_first(self, loops: Sequence[Loop]) -> Loop:
        if loops:
            raise LoopNotChosen(f"Which loop? {_name_them(loops)}")
        made = self.create(FIRST_LOOP)
        log.warning("Made the loop %r. Reviewers join at %s", made["name"], made["join_url"])
        return made


def _name_them(loops: Sequence[Loop]) -> str:
    if not loops:
        return "Your account has no loops."
    return f"Your loops: {', '.join(sorted(loop['name'] for loop in loops))}."
