"""`make test` runs every test exactly once, and each path in the way that it needs."""

from pathlib import Path

import pytest

from tests.parts import (
    BROWSER,
    MAIN,
    PAGES,
    PROCESSES,
    ROOT,
    SERVICE,
    check,
    everything,
    part_of,
    selected,
)


def commands(words: list[str]) -> dict[str, tuple[str, ...]]:
    return {part.name: part.command for lane in selected(words) for part in lane}


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("tests/api/test_claims.py::test_claiming", MAIN),
        ("tests/portal/", MAIN),
        ("tests/browser", PAGES),
        ("./tests/browser/test_keys.py", PAGES),
        ("tests/faults/test_history.py", SERVICE),
        ("tests/processes/", SERVICE),
    ],
)
def test_a_path_belongs_to_one_part(path: str, part: object) -> None:
    assert part_of(path) is part


def test_each_part_gets_its_own_paths_and_every_option() -> None:
    found = commands(["tests/api/test_claims.py", "tests/browser/test_keys.py", "-k", "held"])
    assert found == {
        MAIN.name: (*MAIN.command, "-n", "0", "tests/api/test_claims.py", "-k", "held"),
        PAGES.name: (*PAGES.command, "-n", "0", "tests/browser/test_keys.py", "-k", "held"),
    }


def test_a_folder_keeps_its_workers() -> None:
    assert commands(["tests/portal"]) == {MAIN.name: (*MAIN.command, "tests/portal")}


def test_options_alone_go_to_all_tests() -> None:
    found = commands(["-k", "held"])
    assert set(found) == {MAIN.name, SERVICE.name, PAGES.name}
    assert all(command[-2:] == ("-k", "held") for command in found.values())


def test_the_whole_suite_leaves_out_no_folder() -> None:
    told = {word for lane in everything() for part in lane for word in part.command}
    for folder in (*BROWSER, *PROCESSES):
        assert Path(ROOT / folder).is_dir()
        assert {folder, f"--ignore={folder}"} <= told
    assert "tests" in told


def test_pages_are_looked_at_in_a_process_that_may() -> None:
    (part,) = (each for lane in everything() for each in lane if each.name == PAGES.name)
    assert part.environment == {"DJANGO_ALLOW_ASYNC_UNSAFE": "true"}


def test_a_check_starts_no_server() -> None:
    assert not any(part.needs_servers for lane in check() for part in lane)
    assert all(part.needs_servers for part in (MAIN, SERVICE, PAGES))
