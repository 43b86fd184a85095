"""Reads the loops that a form offers: the newest ones and the chosen one."""

from typing import Any

from django.forms import Select

from db.ids import normalize_id
from loops.models import Loop

MAX_LOOPS = 50  # the list of loops leads to the others
MAX_NAME_LENGTH = 40  # characters


class LoopSelect(Select):
    """Marks the loops with a policy, for the styles."""

    with_policy: frozenset[str] | set[str] = frozenset()

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if value in self.with_policy:
            option["attrs"]["data-policy"] = True
        return option


def read_loop_choices(account_id: str, chosen: str) -> list[Loop]:
    """Returns the account's newest loops, and its loop with the id `chosen` if not among them."""
    mine = Loop.objects.of_creator(account_id).only("name", "policy")
    loops = list(mine.newest_first()[:MAX_LOOPS])
    loop_id = normalize_id(chosen)
    if loop_id and len(loops) == MAX_LOOPS and loop_id not in {loop.pk for loop in loops}:
        loops += mine.filter(pk=loop_id)
    return loops


def format_choices(loops: list[Loop]) -> list[tuple[str, str]]:
    return [(loop.pk, shorten(loop.name)) for loop in loops]


def shorten(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
