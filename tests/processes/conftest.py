"""The stacks of these tests; whatever a failed test leaves is ended here."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes.stack import Stack

StackMaker = Callable[..., Stack]


@pytest.fixture
def new_stack(tmp_path: Path) -> Iterator[StackMaker]:
    stacks: list[Stack] = []

    def make(name: str = "data", **options: Any) -> Stack:
        stacks.append(Stack(tmp_path / name, **options))
        return stacks[-1]

    yield make
    for stack in stacks:
        stack.discard()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that is up for every test of the module; none of them may stop it."""
    stack = Stack(tmp_path_factory.mktemp("running") / "data").start_until_ready()
    yield stack
    stack.discard()
