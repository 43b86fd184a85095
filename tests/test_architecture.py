"""Checks the rules of docs/architecture.md that `lint-imports` does not check."""

import ast
import importlib
import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = (
    "config", "db", "web", "outbox", "accounts", "webhooks", "mailing", "loops", "reviews", "api",
    "portal", "dashboard", "signin",
)  # fmt: skip
NO_PLACE = {"utils.py", "helpers.py", "common.py", "signals.py", "misc.py"}


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the rooms, by its dotted name."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" not in path.parts:
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield name.removesuffix(".__init__"), path


def imports(path: Path) -> set[str]:
    """The dotted names that a module imports, of ours and of others."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(str(node.module))
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


MODULES = dict(modules())


def canonical(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def pinned(requirements: str) -> set[str]:
    """The distributions that a requirements file names."""
    lines = (ROOT / requirements).read_text(encoding="utf-8").splitlines()
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines)
    return {canonical(name[0]) for name in names if name}


# The last two come with requests, whose transport webhooks take apart.
PRODUCTION = pinned("requirements.txt")
# Imported only where a variable asks for it (`config.telemetry`).
OPTIONAL = {
    name: pinned("requirements-observability.txt") for name in ("web.tracing", "web.error_reports")
}


def test_nothing_needs_what_only_the_tests_install() -> None:
    bringers = importlib.metadata.packages_distributions()
    faults = []
    for name, path in MODULES.items():
        allowed = PRODUCTION | OPTIONAL.get(name, set())
        for other in {other.split(".")[0] for other in imports(path)} & bringers.keys():
            if not {canonical(bringer) for bringer in bringers[other]} & allowed:
                faults.append(f"{name} imports {other}")
    assert faults == []


def test_status_is_written_in_one_place() -> None:
    """No other module assigns the status of a request, or updates it (`SET status`)."""
    writers = [
        name
        for name, path in MODULES.items()
        if name.startswith("reviews.") and assigns_status(path.read_text(encoding="utf-8"))
    ]
    assert writers == ["reviews.lifecycle.transitions"]


def assigns_status(text: str) -> bool:
    assigned = [
        target
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    return "SET status" in text or any(
        isinstance(target, ast.Attribute) and target.attr == "status" for target in assigned
    )


def test_a_claim_is_written_in_one_place() -> None:
    writers = [
        name
        for name, path in MODULES.items()
        if re.search("SET claim_id = (?!NULL)", path.read_text(encoding="utf-8"))
    ]
    assert writers == ["outbox.claiming"]


# A deadline or the end of a lease, compared with a clock: in SQL, or in a look-up of the ORM.
CLOCK = r"(Now\(|statement_timestamp|clock_timestamp|\{|%\()"
JUDGEMENT = re.compile(rf"(timeout_at|claim_expires_at)(__[lg]te?=|\s*[<>]=?)\s*{CLOCK}")


def test_what_a_request_is_right_now_is_judged_in_one_place() -> None:
    judges = [
        name for name, path in MODULES.items() if JUDGEMENT.search(path.read_text(encoding="utf-8"))
    ]
    assert judges == ["reviews.lifecycle.conditions"]


def test_sentences_of_errors_stand_in_one_place() -> None:
    homes = ("api.errors", "api.failures")
    sentences = set()
    for home in homes:
        for node in ast.walk(ast.parse(MODULES[home].read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                sentences.add(node.value.value)
    for name, path in MODULES.items():
        if name in homes:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value not in sentences - {"Not found"}, f"{name}: {node.value!r}"


def test_services_do_not_talk_to_the_network() -> None:
    for name, path in MODULES.items():
        if name.endswith("services"):
            names = imports(path)
            assert not names & {"requests", "socket", "urllib.request", "http.client"}, name


def test_pages_and_the_api_do_not_talk_to_the_network() -> None:
    """No request waits for somebody else's server: rows go to workers, pushes to other threads."""
    talkers = {
        *("requests", "urllib3", "socket", "ssl", "http.client", "urllib.request", "smtplib.SMTP"),
        *("webhooks.outbound", "webhooks.posting", "webhooks.channel", "mailing.server"),
    }
    for name, path in MODULES.items():
        if name == "web.server.protocol":  # sets an option of a socket that uvicorn has accepted
            continue
        if name.split(".")[0] in ("web", "api", "portal", "dashboard", "signin"):
            assert not imports(path) & talkers, name


def test_nothing_hides_in_save_or_signals() -> None:
    for name, path in MODULES.items():
        text = path.read_text(encoding="utf-8")
        assert "django.dispatch" not in text, name
        assert "django.db.models.signals" not in text, name
        assert "def save(" not in text, name


def test_no_drawer_for_odds_and_ends() -> None:
    assert not {path.name for path in MODULES.values()} & NO_PLACE


def test_templates_hold_no_script_and_no_style() -> None:
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<style" not in text, path
        assert " style=" not in text, path
        assert "<script>" not in text, path
        assert " onclick=" not in text, path
