"""The parts of the test suite, and how pytest is called for each of them."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from local.apps import count_cores

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest")
# The linters take the time that the tests leave.
BEHIND = ("nice", "-n", "5")


@dataclass(frozen=True)
class Part:
    """A command that runs by itself; `folders` are those of its tests."""

    name: str
    command: tuple[str, ...]
    folders: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    needs_servers: bool = True


def workers() -> int:
    """As many as there are cores, but two at least, and eight at most."""
    return max(2, min(count_cores(), 8))


def ignoring(*folders: str) -> tuple[str, ...]:
    return tuple(f"--ignore={folder}" for folder in folders)


BROWSER = ("tests/browser",)
PROCESSES = ("tests/processes", "tests/faults")

LINT = Part(
    "Lint and types", (*BEHIND, "make", "--no-print-directory", "lint"), needs_servers=False
)
# Some do nothing but wait: with worksteal the other workers take what is left.
MAIN = Part(
    "Tests of the code",
    (*PYTEST, "-n", str(workers() + 1), "--dist", "worksteal"),
    ("tests",),
)
# They mostly wait for processes to start and to end. A file shares one running service, and those
# that take longest come first (tests/conftest.py).
SERVICE = Part(
    "Tests of the running service",
    (*PYTEST, "-n", str(workers() + 2), "--dist", "loadfile", "--no-loadscope-reorder"),
    PROCESSES,
)
# Playwright keeps an event loop running, beside which Django refuses its ORM by default.
PAGES = Part(
    "Tests in a browser",
    (*PYTEST, "-n", str(workers() + 1), "--dist", "worksteal"),
    BROWSER,
    {"DJANGO_ALLOW_ASYNC_UNSAFE": "true"},
)
WITHOUT_SERVERS = Part(
    "Tests without servers",
    (
        *(*PYTEST, "-n", str(workers() + 1), "--dist", "worksteal", "--no-servers"),
        *("tests", *ignoring(*BROWSER, *PROCESSES)),
    ),
    needs_servers=False,
)

Lanes = Sequence[Sequence[Part]]
"""Parts in a lane run one after the other, lanes side by side."""


def check() -> Lanes:
    """What `make check` runs."""
    return [[LINT], [WITHOUT_SERVERS]]


def everything() -> Lanes:
    """What `make test` runs.

    One part after the other: each has workers for all cores, and many of its tests wait for
    processes that need a core too.
    """
    main, service, pages = whole(MAIN), whole(SERVICE), whole(PAGES)
    return [[main, service, pages], [LINT]]


def whole(part: Part) -> Part:
    """The part with all of its tests."""
    rest = ignoring(*BROWSER, *PROCESSES) if part is MAIN else ()
    return given(part, [*part.folders, *rest])


def selected(words: Sequence[str]) -> Lanes:
    """What `make test ARGS="…"` runs: paths go to their part, options to every part."""
    paths = [word for word in words if (ROOT / word.split("::")[0]).exists()]
    options = [word for word in words if word not in paths]
    if not paths:
        return [[given(whole(part), options) for part in (MAIN, SERVICE, PAGES)]]
    files = all((ROOT / path.split("::")[0]).is_file() for path in paths)
    few = ["-n", "0"] if files else []
    chosen: dict[str, list[str]] = {}
    for path in paths:
        chosen.setdefault(part_of(path).name, []).append(path)
    parts = [part for part in (MAIN, SERVICE, PAGES) if part.name in chosen]
    return [[given(part, [*few, *chosen[part.name], *options]) for part in parts]]


def part_of(path: str) -> Part:
    """The part that runs the tests below this path."""
    place = Path(path.split("::")[0]).as_posix()
    for part in (PAGES, SERVICE):
        if any(f"{place}/".startswith(f"{folder}/") for folder in part.folders):
            return part
    return MAIN


def given(part: Part, words: Sequence[str]) -> Part:
    return replace(part, command=(*part.command, *words))
