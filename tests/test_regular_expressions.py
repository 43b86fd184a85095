"""Every regular expression of ours takes time in proportion to its text, whatever the text is.

They are found in the source, so a new one is tried as well. Whatever takes noticeably long for a
short text is tried with one of 60,000 characters, which takes a linear expression some milliseconds
and a quadratic one at least a second.
"""

import ast
import builtins
import importlib
import itertools
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cpu import TooMuchCpu, limited_cpu
from tests.test_architecture import MODULES

FUNCTION = re.compile(r"re\.(compile|match|fullmatch|search|sub|split|findall|finditer)|re_path")
ANCHORED = {"match", "fullmatch"}
SHORT, LONG = 3_000, 60_000  # characters
NOTICEABLE, BOUND = 0.002, 0.5  # seconds of CPU time for a short and a long text
COMMON = [" ", "\n", "a", "1", "\\", '"', "<", "/", "@"]


@dataclass(frozen=True)
class Expression:
    """A regular expression, and whether it is only tried at the beginning of a text."""

    place: str
    pattern: re.Pattern[Any]
    is_anchored: bool

    @property
    def is_binary(self) -> bool:
        return isinstance(self.pattern.pattern, bytes)

    def run(self, text: str) -> None:
        subject = text.encode("latin-1", "replace") if self.is_binary else text
        if self.is_anchored:
            self.pattern.match(subject)
            self.pattern.fullmatch(subject)
        else:
            for _ in self.pattern.finditer(subject):
                pass

    def check(self, prefix: str, pump: str) -> None:
        """Raises TooMuchCpu unless the time for a long text is bounded."""
        began = time.process_time()
        self.run(build(prefix, pump, SHORT))
        if time.process_time() - began > NOTICEABLE:
            text = build(prefix, pump, LONG)
            with limited_cpu(BOUND, (self.place, prefix, pump)):
                self.run(text)

    def pumps(self) -> Iterator[tuple[str, str]]:
        """A prefix and what to repeat: the pattern's own characters and common ones."""
        source = self.pattern.pattern
        source = source.decode("latin-1") if self.is_binary else source
        own = re.findall(r"[^\w\s^$?|()]|[a-z]+", re.sub(r"\\[a-zA-Z]", "", source))
        pumps = list(dict.fromkeys([*COMMON, *own]))
        for first, second in itertools.product(pumps, pumps):
            yield first, second
            yield "", first + second


def build(prefix: str, pump: str, length: int) -> str:
    return prefix + pump * (length // len(pump)) + "\0"


def expressions() -> Iterator[Expression]:
    """The expressions of all rooms."""
    for module, path in MODULES.items():
        source = path.read_text(encoding="utf-8")
        if FUNCTION.search(source):  # most have none, and reading their trees takes a second
            yield from find_in(module, source)


def find_in(module: str, source: str) -> Iterator[Expression]:
    """The expressions of one module, evaluated there."""
    tree = ast.parse(source)
    constants = {
        id(node.value): target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and FUNCTION.fullmatch(function := ast.unparse(node.func)):
            uses = re.findall(rf"\b{constants.get(id(node), ' ')}\.(\w+)", source)
            is_anchored = function in ("re.match", "re.fullmatch", "re_path") or (
                bool(uses) and set(uses) <= ANCHORED
            )
            yield Expression(f"{module}:{node.lineno}", compiled(module, node), is_anchored)


class Names(dict[str, Any]):
    """The names of a module. One that is only known in a function stands for a text."""

    def __missing__(self, name: str) -> str:
        if hasattr(builtins, name):
            raise KeyError(name)
        return "ada@example.org"


def compiled(module: str, call: ast.Call) -> re.Pattern[Any]:
    """The pattern of a call of `re`, with its flags."""
    names = Names({**vars(importlib.import_module(module)), "re": re})
    arguments = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    flags = [text for each in arguments if re.match(r"re\.[A-Z]", text := ast.unparse(each))]
    pattern = eval(ast.unparse(call.args[0]), {}, names)
    return re.compile(pattern, eval("|".join(flags) or "0", {}, names))


EXPRESSIONS = list(expressions())


def test_they_are_found() -> None:
    assert len(EXPRESSIONS) > 25
    by_place = {expression.place.split(":")[0]: expression for expression in EXPRESSIONS}
    assert not by_place["webhooks.safe_text"].is_anchored
    assert by_place["db.ids"].is_anchored


@pytest.mark.parametrize(
    ("pattern", "pump"),
    [(r"\[[^\]]*\]", "["), (r'"[^"\\]*(?:\\.[^"\\]*)*"', '\\"'), (r"\s+$", " ")],
)
def test_a_quadratic_one_is_noticed(pattern: str, pump: str) -> None:
    slow = Expression("here", re.compile(pattern), is_anchored=False)
    with pytest.raises(TooMuchCpu):
        slow.check("", pump)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda each: each.place)
def test_it_takes_linear_time(expression: Expression) -> None:
    for prefix, pump in expression.pumps():
        expression.check(prefix, pump)
