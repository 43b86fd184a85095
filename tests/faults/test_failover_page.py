"""The section about a cluster that loses nodes: which runs it is of, and where it goes."""

from pathlib import Path

import pytest

from tests.faults import page as sections
from tests.faults.failover_page import Runs, report
from tests.faults.failovers import BLOWS, Failed, Failover

NAME = next(iter(BLOWS))


def run(pause: float) -> Failover:
    return Failover(NAME, 1_500, 3, pause, whole=8.4, lost=0, doubled=0, late=2.0)


def test_runs_of_a_commit_add_up(tmp_path: Path) -> None:
    file = tmp_path / "build" / "failovers.jsonl"
    Runs(file, "old").keep(run(9.0))
    Runs(file, "new").keep(run(3.14))
    runs = Runs(file, "new")
    runs.keep(run(2.0))

    assert runs.load() == [run(3.14), run(2.0)]
    assert report(runs.load(), "new")[-2:] == [
        f"| {NAME} | 2 | 3,000 | 0 | 0 | 3.1, 2.0 | 8, 8 |",
        "",
    ]


def test_there_is_no_section_without_a_run_that_failed(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "failovers.jsonl", "new")
    runs.keep(run(3.0))
    runs.keep_failure(NAME, "1 lost\nlogs")

    with pytest.raises(Failed) as raised:
        runs.load()
    assert raised.value.args == (NAME, "1 lost")
    assert Runs(runs.file, "newer").load() == []


def test_the_section_has_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "docs" / "reliability.md"
    page.parent.mkdir()
    page.write_text(f"# R\n\n## Faults\n\n{sections.STORM}\n\nend\n")
    monkeypatch.setattr(sections, "ROOT", tmp_path)
    monkeypatch.setattr(sections, "PAGE", page)

    for title, line in (
        (sections.FAILOVERS, "first"),
        (sections.SOAK, "soak"),
        (sections.FAILOVERS, "new"),
    ):
        sections.rewrite([title, "", line, ""])
    assert page.read_text() == (
        f"# R\n\n## Faults\n\n{sections.FAILOVERS}\n\nnew\n\n{sections.SOAK}\n\nsoak\n\n"
        f"{sections.STORM}\n\nend\n"
    )
