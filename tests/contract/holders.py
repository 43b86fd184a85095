"""Which test holds which row, read from the sources without running them."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def find_holders(tests: Path = TESTS) -> dict[str, list[str]]:
    """Row id -> names of the tests that carry its marker, as `api/test_loops.py::test_name`."""
    holders: dict[str, list[str]] = {}
    for source in sorted(tests.rglob("test_*.py")):
        where = source.relative_to(tests).as_posix()
        for test, row in _marked(source):
            holders.setdefault(row, []).append(f"{where}::{test}")
    return holders


def _marked(source: Path) -> Iterator[tuple[str, str]]:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("test_"):
                continue
            for decorator in node.decorator_list:
                yield from ((node.name, row) for row in _rows_of(decorator))


def _rows_of(decorator: ast.expr) -> list[str]:
    """The literal arguments of `pytest.mark.contract(...)`; a computed one is an error."""
    if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) != "pytest.mark.contract":
        return []
    return [ast.literal_eval(argument) for argument in decorator.args]
