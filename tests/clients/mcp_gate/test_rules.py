"""The file of rules: it says what it does not understand, and starts nothing then."""

from pathlib import Path

import pytest
from reviewloop import ConfigurationError
from reviewloop.mcp_gate.questions import name_server
from reviewloop.mcp_gate.rules import Rules, read_rules


def read(folder: Path, text: str, **given: str) -> Rules:
    file = folder / "gate.toml"
    file.write_text(text, encoding="utf-8")
    return read_rules(str(file), **given)


def test_the_defaults(tmp_path: Path) -> None:
    rules = read(tmp_path, "")
    assert rules == read_rules(None, loop=None) == Rules()
    assert (rules.timeout, rules.priority, rules.loop) == ("10m", "medium", None)
    assert rules.judge("anything") is None


def test_the_strictest_pattern_counts(tmp_path: Path) -> None:
    rules = read(tmp_path, 'pass = ["*"]\nask = ["delete_*", "pay"]\nrefuse = ["delete_all"]')
    assert [rules.judge(name) for name in ("read", "delete_one", "delete_all", "pay", "Pay")] == [
        "pass",
        "ask",
        "refuse",
        "ask",
        "pass",
    ]


def test_the_command_line_goes_before_the_file(tmp_path: Path) -> None:
    rules = read(tmp_path, 'loop = "A"\ntimeout = "1h"', loop="B")
    assert (rules.loop, rules.timeout) == ("B", "1h")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'allow = ["*"]',
            "there is no setting 'allow'; the settings are refuse, ask, pass, loop, timeout, "
            "priority, actions, mask, patience",
        ),
        ('[rules]\npass = ["*"]', "there is no setting 'rules'"),
        ('pass = "*"', 'pass is a list of names or patterns, such as ["delete_*"]'),
        ("refuse = [1]", "refuse is a list of names or patterns"),
        ("loop = 5", "loop is the name or the id of a loop"),
        ("timeout = 600", "timeout is a duration: a time-out is 60 seconds to 24 hours"),
        ('timeout = "5s"', "timeout is a duration"),
        ('priority = "urgent"', "priority is one of low, medium, high, critical"),
        ("priority = []", "priority is one of"),
        ('actions = ["accept"]', "actions is a list of approve, edit, reject, respond"),
        ('actions = ["edit", "edit"]', "each at most once"),
        ("actions = []", "actions is a list of"),
        ("mask = 1", "mask is true or false"),
        ("patience = -1", "patience is a number of seconds from 0 to 3600"),
        ("patience = true", "patience is a number of seconds"),
        ("patience = nan", "patience is a number of seconds"),
        ("pass = [", "gate.toml: "),
    ],
)
def test_what_a_file_may_not_say(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path, text)
    assert sentence in str(raised.value)
    assert str(tmp_path / "gate.toml") in str(raised.value)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("shop", " of `shop`"),
        ("", ""),
        ("`\n**all** `", " of `**all**`"),
        ("x" * 500, f" of `{'x' * 80}`"),
    ],
)
def test_how_a_server_is_named(name: str, named: str) -> None:
    assert name_server(name) == named


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=r"gate\.toml: "):
        read_rules(str(tmp_path / "gate.toml"))
