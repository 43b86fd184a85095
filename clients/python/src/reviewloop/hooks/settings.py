"""Writes our hook into the settings file of a coding agent, and removes it."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from reviewloop.errors import ReviewLoopError
from reviewloop.hooks import json_text
from reviewloop.hooks.hosts import Host

EMPTY = "{}\n"
FIELD = "hooks"


class CannotWrite(ReviewLoopError):
    """The settings file cannot be written. The argument is the reason; the file is unchanged."""


class Settings:
    """The settings file of an agent. Raises CannotWrite if the agent could not run its hooks."""

    def __init__(self, host: Host, path: Path) -> None:
        self.host = host
        self.path = path
        self._before = _read(path)
        try:
            self._text = EMPTY if self._before is None else self._before.decode()
        except UnicodeDecodeError as error:
            self._refuse(f"is not plain JSON ({error})")
        self._check()

    @property
    def _events(self) -> dict[str, Any]:
        events: dict[str, Any] = json.loads(self._text).get(FIELD, {})
        return events

    def find_commands(self, event: str) -> list[str]:
        """Returns our commands for an event."""
        return [
            handler["command"]
            for group in self._events.get(event, [])
            for handler in group["hooks"]
            if self._is_ours(handler)
        ]

    @property
    def runs_no_hooks(self) -> bool:
        """Tells whether the file switches all hooks of Claude Code off."""
        return json.loads(self._text).get("disableAllHooks") is True

    def put(self, event: str, group: dict[str, Any]) -> None:
        """Makes `group` our only one for the event, in the place of our first one or at the end."""
        places = list(self._find_ours(event))
        if places:
            first, is_whole = places[0]
            for place, whole in reversed(places[1:]):
                self._remove(event, place, is_whole=whole)
            if not is_whole:
                self._remove(event, first, is_whole=False)
            elif self._events[event][first[0]] != group:
                path = (FIELD, event, first[0])
                self._text = json_text.replace(self._text, path, group)
            if is_whole:
                return
        self._add(event, group)

    def take_out(self, event: str) -> None:
        """Removes our handlers, and the groups, event and object that are then empty."""
        places = list(self._find_ours(event))
        for place, is_whole in reversed(places):
            self._remove(event, place, is_whole=is_whole)
        if places and not self._events[event]:
            self._text = json_text.remove(self._text, (FIELD, event))
            if not self._events:
                self._text = json_text.remove(self._text, (FIELD,))

    def save(self) -> Path | None:
        """Replaces the file, in one step, and returns its backup. Does nothing without changes."""
        after = self._text.encode()
        if after == (EMPTY.encode() if self._before is None else self._before):
            return None
        target = Path(os.path.realpath(self.path))  # a link to a file elsewhere stays one
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with open(descriptor, "wb") as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
            if _read(self.path) != self._before:
                self._refuse("changed meanwhile. Try again")
            backup = None
            if self._before is not None:
                shutil.copymode(target, draft)
                moment = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
                backup = target.with_name(f"{target.name}.backup-{moment}")
                shutil.copy2(target, backup)
            os.replace(draft, target)
        finally:
            Path(draft).unlink(missing_ok=True)
        return backup

    def _add(self, event: str, group: dict[str, Any]) -> None:
        content = json.loads(self._text)
        if FIELD not in content:
            self._text = json_text.append(self._text, (), {event: [group]}, FIELD)
        elif event not in content[FIELD]:
            self._text = json_text.append(self._text, (FIELD,), [group], event)
        else:
            self._text = json_text.append(self._text, (FIELD, event), group)

    def _find_ours(self, event: str) -> Iterator[tuple[tuple[int, int], bool]]:
        """Yields the place of each of our handlers: ((group, handler), False).

        A group that has no other handlers is one place: ((group, 0), True).
        """
        for number, group in enumerate(self._events.get(event, [])):
            ours = [self._is_ours(handler) for handler in group["hooks"]]
            if ours and all(ours):
                yield (number, 0), True
            else:
                yield from (((number, index), False) for index, is_it in enumerate(ours) if is_it)

    def _remove(self, event: str, place: tuple[int, int], *, is_whole: bool) -> None:
        group, index = place
        path = (FIELD, event, group) if is_whole else (FIELD, event, group, "hooks", index)
        self._text = json_text.remove(self._text, path)

    def _is_ours(self, handler: dict[str, Any]) -> bool:
        command = handler.get("command")
        pattern = rf"(?:^|[\s/'])reviewloop'? hook {self.host.name}(?:\s|$)"
        return isinstance(command, str) and re.search(pattern, command) is not None

    def _check(self) -> None:
        """Raises CannotWrite for a file whose hooks the agent would not run."""
        try:
            content = json.loads(
                self._text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repetition
            )
        except (ValueError, RecursionError) as error:
            self._refuse(f"is not plain JSON ({error})")
        if not isinstance(content, dict):
            self._refuse("is not a JSON object")
        unknown = content.keys() - (self.host.root_names or content.keys())
        if unknown:
            self._refuse(f"has the name {min(unknown)!r}, with which {self.host.title} skips it")
        events = content.get(FIELD, {})
        if not isinstance(events, dict):
            self._refuse("has hooks that are no object")
        for event, groups in events.items():
            for number, group in enumerate(groups if isinstance(groups, list) else [groups]):
                self._check_group(f"hooks.{event}[{number}]", group)
            if not isinstance(groups, list):
                self._refuse(f"has hooks.{event}, which is no list")

    def _check_group(self, place: str, group: Any) -> None:
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            self._refuse(f"has {place} without a list of hooks")
        for index, handler in enumerate(handlers):
            where = f"{place}.hooks[{index}]"
            if not isinstance(handler, dict) or not isinstance(handler.get("type"), str):
                self._refuse(
                    f"has {where} without a type: {self.host.title} runs none of its hooks"
                )
            seconds = handler.get("timeout", 1)
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds <= 0:
                self._refuse(
                    f"has {where} with the timeout {json.dumps(seconds)}: {self.host.title} takes "
                    "only a number above 0, and runs none of the hooks of this file"
                )

    def _refuse(self, reason: str) -> NoReturn:
        raise CannotWrite(f"{self.path} {reason}. Nothing was changed")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _refuse_repetition(members: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in members]
    if len(set(names)) < len(names):
        raise ValueError(f"the name {max(names, key=names.count)!r} is there twice")
    return dict(members)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
