"""What the bench prints if it cannot measure a part."""

from typing import Any

import pytest

from bench import first_paint


def test_without_a_browser_no_figure_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_paint, "CHROMIUM", "/nowhere/chromium")
    nothing: Any = None
    part = first_paint.measure(nothing, nothing)
    assert part.tables["paint"].startswith("Not measured in this run: it needs Playwright")
    assert part.goals == []
