"""`reviewloop hook install`, `uninstall` and `test`."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from reviewloop.hooks.hosts import CLAUDE
from reviewloop.hooks.settings import CannotWrite, Settings

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.clients.conftest import answer
from tests.clients.gate import Gate
from tests.clients.hooks import Agent, call, decision

pytestmark = pytest.mark.django_db(transaction=True)

FILES = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}
HOSTS = pytest.mark.parametrize("host", ["claude", "codex"])
OTHER = {"type": "command", "command": "say done", "timeout": 5}


@pytest.fixture
def agent(gate: Gate, key: str, tmp_path: Path) -> Agent:
    return Agent(gate.url, key, tmp_path / "home")


def write(agent: Agent, host: str, text: str) -> Path:
    path = agent.home / FILES[host]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def handler(agent: Agent, host: str, options: str = "") -> dict[str, Any]:
    more = {} if host == "claude" else {"statusMessage": "Waiting for Review Loop"}
    command = f"{agent.program} hook {host}{options}"
    return {"type": "command", "command": command, "timeout": 90000, **more}


@HOSTS
def test_there_is_no_file_yet(agent: Agent, loop: Loop, host: str) -> None:
    code, printed, complaints = agent.manage("install", host)
    assert (code, complaints) == (0, "")
    path = agent.home / FILES[host]
    group = {"hooks": [handler(agent, host)]}
    after = ["PostToolUse", "PostToolUseFailure"] if host == "claude" else []
    events = ["PermissionRequest", *after]
    assert json.loads(path.read_bytes()) == {"hooks": {event: [group] for event in events}}
    assert "It asks the loop 'Refund desk', with 2 active." in printed
    assert f"People join at {loop.join_url}, by this QR code: {loop.qr_code_url}" in printed
    assert ("trust it" in printed) == (host == "codex")
    assert "backup" not in printed
    assert [each.name for each in path.parent.iterdir()] == [path.name]


PLAIN = '{\n  "model" : "opus",\n  "n": [1,2 ,3],\n  "hooks": {}\n}\n'
TEXTS = {
    "spaces": PLAIN,
    "tabs": '{\n\t"hooks": {\n\t\t"PermissionRequest": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}',
    "one line": '{"hooks":{"PermissionRequest":[{"hooks":[]}]},"model":"ö \\u00f6"}',
    "windows": PLAIN.replace("\n", "\r\n"),
    "no hooks": '{\n    "model": "opus"\n}',
    "other event": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}\n\n',
    "empty": "{}",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_rest_stays_byte_for_byte(agent: Agent, loop: Loop, name: str) -> None:
    text = TEXTS[name]
    path = write(agent, "claude", text)
    path.chmod(0o640)
    assert agent.manage("install", "claude")[0] == 0
    installed = path.read_bytes()
    content = json.loads(installed)
    assert content["hooks"]["PermissionRequest"][-1] == {"hooks": [handler(agent, "claude")]}
    assert is_subsequence(text.encode(), installed)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (backup,) = path.parent.glob("*.backup-*")
    assert backup.read_bytes() == text.encode()
    assert agent.manage("install", "claude")[0] == 0
    assert path.read_bytes() == installed
    assert agent.manage("uninstall", "claude")[0] == 0
    if name in ("spaces", "windows"):
        assert is_subsequence(path.read_bytes(), text.encode())
        assert json.loads(path.read_bytes()) == {"model": "opus", "n": [1, 2, 3]}
    else:
        assert path.read_bytes() == text.encode()
    assert agent.manage("uninstall", "claude")[0] == 0
    assert len(list(path.parent.glob("*.backup-*"))) == 2


def is_subsequence(part: bytes, whole: bytes) -> bool:
    rest = iter(whole)
    return all(byte in rest for byte in part)


@HOSTS
def test_other_hooks_stay_and_ours_is_the_last(agent: Agent, loop: Loop, host: str) -> None:
    before = {"hooks": {"PermissionRequest": [{"matcher": "Bash", "hooks": [OTHER]}]}}
    path = write(agent, host, json.dumps(before, indent=2))
    assert (
        agent.manage("install", host, "--tools", "Bash, mcp__.*", "--loop", "Refund desk")[0] == 0
    )
    groups = json.loads(path.read_bytes())["hooks"]["PermissionRequest"]
    ours = {
        "matcher": "Bash|mcp__.*",
        "hooks": [handler(agent, host, " --loop 'Refund desk'")],
    }
    assert groups == [*before["hooks"]["PermissionRequest"], ours]
    assert agent.manage("install", host, "--timeout", "8h", "--edits", "say", "--no-mask")[0] == 0
    groups = json.loads(path.read_bytes())["hooks"]["PermissionRequest"]
    changed = handler(agent, host, " --timeout 8h --edits say --no-mask")
    assert groups == [*before["hooks"]["PermissionRequest"], {"hooks": [changed]}]
    assert agent.manage("uninstall", host)[0] == 0
    assert path.read_text() == json.dumps(before, indent=2)


def test_a_group_that_we_share_keeps_its_others(agent: Agent, loop: Loop) -> None:
    shared = {"hooks": [OTHER, handler(agent, "claude"), OTHER]}
    path = write(agent, "claude", json.dumps({"hooks": {"PermissionRequest": [shared]}}, indent=1))
    assert agent.manage("install", "claude")[0] == 0
    groups = json.loads(path.read_bytes())["hooks"]["PermissionRequest"]
    assert groups == [{"hooks": [OTHER, OTHER]}, {"hooks": [handler(agent, "claude")]}]
    assert agent.manage("uninstall", "claude")[0] == 0
    assert json.loads(path.read_bytes()) == {
        "hooks": {"PermissionRequest": [{"hooks": [OTHER, OTHER]}]}
    }


def with_handler(**changes: Any) -> str:
    return json.dumps({"hooks": {"Stop": [{"hooks": [{**OTHER, **changes}]}]}})


NO_TYPE = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}})


@HOSTS
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (with_handler(timeout="60"), 'hooks.Stop[0].hooks[0] with the timeout "60"'),
        (with_handler(timeout=0), "hooks.Stop[0].hooks[0] with the timeout 0"),
        (with_handler(timeout=True), "hooks.Stop[0].hooks[0] with the timeout true"),
        (with_handler(timeout=None), "hooks.Stop[0].hooks[0] with the timeout null"),
        (NO_TYPE, "hooks.Stop[0].hooks[0] without a type"),
        ('{"hooks": {} // mine\n}', "is not plain JSON"),
        ('{"hooks": {},}', "is not plain JSON"),
        ('{"a": NaN}', "is not plain JSON"),
        ("", "is not plain JSON"),
        pytest.param("[" * 100_000, "is not plain JSON", id="deep"),
        ("[]", "is not a JSON object"),
        ('{"hooks": {}, "hooks": {}}', "the name 'hooks' is there twice"),
        ('{"hooks": []}', "has hooks that are no object"),
        ('{"hooks": {"Stop": {}}}', "has hooks.Stop"),
        ('{"hooks": {"Stop": {"hooks": []}}}', "has hooks.Stop, which is no list"),
        ('{"hooks": {"Stop": [{"hooks": ["x"]}]}}', "hooks.Stop[0].hooks[0] without a type"),
        ('{"hooks": {"Stop": [{"matcher": "x"}]}}', "hooks.Stop[0] without a list of hooks"),
    ],
)
@pytest.mark.parametrize("action", ["install", "uninstall"])
def test_a_file_that_the_agent_cannot_use_is_left_alone(
    agent: Agent, loop: Loop, host: str, text: str, reason: str, action: str
) -> None:
    path = write(agent, host, text)
    code, printed, complaints = agent.manage(action, host)
    assert (code, printed) == (1, "")
    assert reason in complaints
    assert "Nothing was changed" in complaints
    assert path.read_text() == text
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_codex_skips_a_file_with_other_names(agent: Agent, loop: Loop) -> None:
    path = write(agent, "codex", '{"hooks": {}, "model": "x"}')
    code, _, complaints = agent.manage("install", "codex")
    assert (code, path.read_text()) == (1, '{"hooks": {}, "model": "x"}')
    assert "has the name 'model', with which Codex skips it" in complaints


def test_hooks_that_are_switched_off(agent: Agent, loop: Loop) -> None:
    folder = agent.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text('{"disableAllHooks": true}\n')
    code, printed, _ = agent.manage("install", "claude")
    assert code == 0
    assert 'It also has "disableAllHooks": true, so the hook does not run' in printed


def test_bytes_that_are_no_text(agent: Agent, loop: Loop) -> None:
    path = write(agent, "claude", "")
    path.write_bytes(b'{"a": "\xff"}')
    assert "is not plain JSON" in agent.manage("install", "claude")[2]
    assert path.read_bytes() == b'{"a": "\xff"}'


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    settings = Settings(CLAUDE, path)
    settings.put("PermissionRequest", {"hooks": [CLAUDE.build_handler("reviewloop hook claude")]})
    path.write_text('{"model": "opus"}')
    with pytest.raises(CannotWrite, match="changed meanwhile"):
        settings.save()
    assert path.read_text() == '{"model": "opus"}'
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_link_stays_a_link(agent: Agent, loop: Loop) -> None:
    real = agent.home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}")
    path = write(agent, "claude", "")
    path.unlink()
    path.symlink_to(real)
    assert agent.manage("install", "claude")[0] == 0
    assert path.is_symlink()
    assert "reviewloop" in real.read_text()


@HOSTS
def test_a_project_has_a_file_of_its_own(agent: Agent, loop: Loop, host: str) -> None:
    project = agent.home / "shop"
    project.mkdir()
    assert agent.manage("install", host, "--project", str(project))[0] == 0
    own = {"claude": ".claude/settings.local.json", "codex": ".codex/hooks.json"}[host]
    assert "PermissionRequest" in (project / own).read_text()
    assert not (agent.home / FILES[host]).exists()
    assert agent.manage("uninstall", host, "--project", str(project))[0] == 0
    assert json.loads((project / own).read_text()) == {}


def test_the_key_is_stored_for_the_owner_alone(agent: Agent, loop: Loop) -> None:
    file = agent.home / ".config" / "reviewloop" / "hook.json"
    file.unlink()
    given = {"REVIEW_LOOP_URL": agent.url, "REVIEW_LOOP_KEY": agent.key}
    code, printed, _ = agent.manage("install", "codex", **given)
    assert code == 0
    assert json.loads(file.read_text()) == {"url": agent.url, "key": agent.key}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert agent.key not in printed + (agent.home / FILES["codex"]).read_text()


@pytest.mark.parametrize(
    ("words", "environment", "sentence"),
    [
        ((), {"REVIEW_LOOP_KEY": "rl_live_nonsense"}, "Invalid API key"),
        ((), {"REVIEW_LOOP_URL": "http://127.0.0.1:9"}, "127.0.0.1"),
        (("--loop", "Nobody"), {}, "There is no loop 'Nobody'"),
        (("--tools", "Bash,,Edit"), {}, "a name is empty"),
        (("--tools", "Bash("), {}, "--tools 'Bash('"),
        (("--credentials", "none.json"), {"REVIEW_LOOP_KEY": ""}, "REVIEW_LOOP_KEY is not set"),
    ],
)
def test_nothing_is_written_for_a_hook_that_could_not_ask(
    agent: Agent, loop: Loop, words: tuple[str, ...], environment: dict[str, str], sentence: str
) -> None:
    given = {"REVIEW_LOOP_URL": agent.url, "REVIEW_LOOP_KEY": agent.key, **environment}
    code, _, complaints = agent.manage("install", "claude", *words, **given)
    assert code == 1
    assert sentence in complaints
    assert not (agent.home / ".claude").exists()


@pytest.mark.parametrize("timeout", ["30d", "1s", "soon"])
def test_a_hook_waits_for_a_day_at_most(agent: Agent, loop: Loop, timeout: str) -> None:
    code, _, complaints = agent.manage("install", "claude", "--timeout", timeout)
    assert (code, "--timeout" in complaints) == (2, True)


@HOSTS
def test_what_is_installed_asks(agent: Agent, loop: Loop, member: User, host: str) -> None:
    assert agent.manage("install", host)[0] == 0
    with ThreadPoolExecutor(1) as pool:
        testing = pool.submit(agent.manage, "test", host)
        request = answer({"action": "reject", "message": "Only a test."}, member)
        code, printed, complaints = testing.result()
    assert (code, printed) == (
        0,
        "Denied. The agent is told: A person rejected this call: Only a test.\n",
    )
    assert complaints == "Asking. Approve it on your phone, or wherever you review.\n"
    assert request.response_config["proposal"]["name"] == "Bash"


def test_the_test_of_a_hook_that_is_not_installed(agent: Agent, loop: Loop) -> None:
    code, printed, complaints = agent.manage("test", "claude")
    assert (code, printed) == (1, "")
    assert "has no hook of Review Loop: reviewloop hook install claude" in complaints
    assert not Request.objects.exists()


def test_the_test_says_that_the_service_is_away(agent: Agent, loop: Loop) -> None:
    assert agent.manage("install", "claude")[0] == 0
    agent.store(agent.url, "rl_live_nonsense")
    code, printed, complaints = agent.manage("test", "claude")
    assert (code, printed) == (1, "")
    assert "Invalid API key" in complaints
    assert complaints.endswith("No decision: the agent would ask at its own prompt.\n")


def test_the_installed_command_runs_where_it_stands(agent: Agent, loop: Loop, member: User) -> None:
    """Neither the hook nor its watcher imports what lies in the agent's project."""
    marker = agent.home / "imported"
    for name in ("requests", "reviewloop", "json"):
        (agent.home / f"{name}.py").write_text(f"open({str(marker)!r}, 'w')")
    asking = agent.start("claude", call())
    answer({"action": "approve"}, member)
    assert decision(asking) == {"behavior": "allow"}
    assert not marker.exists()
