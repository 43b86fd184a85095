"""clients/typescript, built as its users build it, in Node against the real server."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.models import StoredResponse, User
from accounts.webhook_secrets import new_secret
from loops.models import Loop
from loops.services import create_loop
from reviews.models import Request
from reviews.services import answer_request, cancel_request, create_request
from tests.clients import node, test_generated
from tests.clients.conftest import answer, asked, finish, let_time_run_out
from tests.clients.gate import Fault, Gate
from tests.clients.schema import TYPES, TYPESCRIPT, generate
from tests.clients.test_generated import COMPILER_OPTIONS
from tests.reviews.conftest import FIELDS, Make, acting, make
from tests.waiting import stretched, wait_until
from webhooks import signing

__all__ = ["make"]  # a fixture
HERE = Path(__file__).parent
PROGRAMS = (HERE / "ask.ts", HERE / "receipt.ts")
NOW = 1_800_000_000
LONG_AGO = "Thu, 01 Jan 1970 00:00:00 GMT"
TRACES = [f"00-{n:032x}-{'ab' * 8}-01" for n in (1, 2)]
MOMENTS = {
    "before the create arrives": ("POST", "/requests", "before"),
    "before the answer to the create arrives": ("POST", "/requests", "after"),
    "before it waits": ("GET", "?wait=", "before"),
    "before the person's answer arrives": ("GET", "?wait=", "after"),
}
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="session")
def project() -> Path:
    """A project that has installed the package, with a program that uses it."""
    node.program("typescript", "bin/tsc")
    sources = [
        path for path in TYPESCRIPT.rglob("*") if not {"dist", "node_modules"} & {*path.parts}
    ]
    inputs = [*sources, *PROGRAMS, Path(__file__), Path(test_generated.__file__)]
    return node.made_once("typescript", inputs, make_project) / "project"


def make_project(folder: Path) -> None:
    compiler = node.program("typescript", "bin/tsc")
    (folder / "node_modules").symlink_to(node.MODULES)
    ignored = shutil.ignore_patterns("dist", "*.tgz", "node_modules")
    shutil.copytree(TYPESCRIPT, folder / "package", ignore=ignored)
    node.run(["npm", "pack", "--silent", "--offline"], folder / "package")
    project = folder / "project"
    modules = project / "node_modules"
    modules.mkdir(parents=True)
    # tarfile cannot unpack safely before Python 3.11.4
    node.run(["tar", "-xzf", str(folder / "package" / "reviewloop-0.1.0.tgz")], modules)
    (modules / "package").rename(modules / "reviewloop")
    (modules / "@types").symlink_to(node.MODULES / "@types")
    (project / "package.json").write_text('{"type": "module"}')
    (modules / "jose").symlink_to(node.MODULES / "jose")
    for program in PROGRAMS:
        shutil.copy(program, project)
    modern = {"module": "nodenext", "moduleResolution": "nodenext", "skipLibCheck": False}
    options = COMPILER_OPTIONS | modern | {"types": ["node"]}
    settings = {"compilerOptions": options, "files": [program.name for program in PROGRAMS]}
    (project / "tsconfig.json").write_text(json.dumps(settings))
    node.run([*compiler, "--project", "."], project)


@pytest.fixture
def start(project: Path, gate: Gate, key: str, tmp_path: Path) -> Start:
    """`start(name, …)` runs a scenario of the program."""

    def start_program(name: str, **more: Any) -> "subprocess.Popen[str]":
        scenario = json.dumps({"name": name, "folder": str(tmp_path / "state"), **more})
        return run_node(["ask.js"], project, URL=gate.url, KEY=key, SCENARIO=scenario)

    return start_program


def make_pending(loop: Loop) -> Request:
    made = create_request(loop_id=loop.pk, account=acting(loop.creator), fields=FIELDS)
    return Request.objects.get(pk=made.pk)


def run_node(words: list[str], folder: Path, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        ["node", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def result(process: "subprocess.Popen[str]") -> Any:
    code, printed, complaints = finish(process)
    assert code == 0, complaints
    return json.loads(printed)


def test_its_types_are_those_of_the_api(tmp_path: Path) -> None:
    made = generate(tmp_path)
    if os.environ.get("UPDATE_TYPES"):
        TYPES.write_text(made, encoding="utf-8")
    assert TYPES.read_text(encoding="utf-8") == made, (
        'UPDATE_TYPES=1 make test ARGS="tests/clients/test_typescript_client.py -k types"'
    )


def test_it_needs_no_package(project: Path) -> None:
    package = json.loads((TYPESCRIPT / "package.json").read_text(encoding="utf-8"))
    assert not [name for name in package if name.lower().endswith("dependencies")]
    for path in (project / "node_modules" / "reviewloop" / "dist").glob("*.js"):
        for name in re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8")):
            assert name.startswith("./") or path.name == "node.js", (path, name)


@pytest.mark.django_db(transaction=True)
def test_a_person_answers(start: Start, loop: Loop, member: User) -> None:
    more = {
        "loop": loop.name,
        "timeoutSeconds": 600,
        "traceparent": TRACES[0],
        "requireHuman": True,
    }
    asking = start("ask", question="Ship it?", more=more)
    request = answer("yes", member, comment="Größer ✓")
    assert request.traceparent == TRACES[0]
    assert result(asking) == {
        "value": "yes",
        "byHuman": True,
        "comment": "Größer ✓",
        "arguments": None,
        "id": request.pk,
    }
    assert request.timeout_seconds == 600


@pytest.mark.django_db(transaction=True)
def test_nobody_answers(start: Start, loop: Loop) -> None:
    asking = start("ask", question="Ship it?", more={"requireHuman": True})
    let_time_run_out(asked())
    ended = result(asking)
    assert (ended["name"], ended["value"]) == ("DefaultUsed", "no")
    assert ended["message"].startswith("Nobody answered request ")


@pytest.mark.django_db(transaction=True)
def test_people_do_not_agree(start: Start, loop: Loop, owner: User, member: User) -> None:
    policy = {"rule": "unanimous", "answers": 2}
    more = {"requireHuman": True, "policy": policy}
    asking = start("ask", question="Ship it?", more=more)
    request = asked()
    for person, value in ((owner, "yes"), (member, "no")):
        answer_request(request=request, reviewer_id=person.pk, answer=value)
    sentence = f"The people who answered request {request.pk} did not agree"
    assert result(asking)["message"] == sentence


@pytest.mark.django_db(transaction=True)
def test_the_request_is_cancelled(start: Start, loop: Loop, owner: User) -> None:
    asking = start("ask", question="Ship it?")
    request = asked()
    cancel_request(request_id=request.pk, account_id=owner.pk)
    ended = result(asking)
    assert (ended["name"], ended["id"]) == ("Cancelled", request.pk)


@pytest.mark.django_db(transaction=True)
def test_the_next_version_of_a_question(start: Start, loop: Loop, member: User) -> None:
    asking = start("ask", question="Refund 80 €?")
    older = asked()
    again = start("ask", question="Refund 40 €?", more={"replaces": older.pk})
    ended = result(asking)
    newer = Request.objects.get(replaces=older)
    assert (ended["name"], ended["id"], ended["by"]) == ("Cancelled", older.pk, newer.pk)
    answer_request(request=newer, reviewer_id=member.pk, answer="yes")
    assert result(again)["value"] == "yes"


@pytest.mark.django_db(transaction=True)
def test_loops_requests_and_feedback(start: Start, owner: User) -> None:
    program = start("flow", traces=TRACES)
    cancelled = Request.objects.filter(status="cancelled")
    wait_until(lambda: cancelled.exists() or program.poll() is not None, 30)
    if program.poll() is None:
        last = Request.objects.get(request_text="Three?")
        answer_request(request=last, reviewer_id=owner.pk, answer="Ja")
    done = result(program)
    assert (done["answer"], done["feedback"]) == ("Ja", {"rating": 5})
    assert done["ids"] == list(Request.objects.order_by("id").values_list("id", flat=True))
    traces = Request.objects.order_by("id").values_list("traceparent", flat=True)
    assert list(traces) == [TRACES[1], TRACES[0], TRACES[0]]


@pytest.mark.django_db(transaction=True)
def test_failures_that_pass(start: Start, gate: Gate, loop: Loop, member: User) -> None:
    gate.faults += [
        Fault(429, {"Retry-After": "1"}, method="GET"),
        Fault(503, method="POST"),
        Fault(is_forwarded=True, method="POST"),
        Fault(method="GET"),
    ]
    gate.crowded = 1
    asking = start("ask", question="Ship it?")
    wait_until(lambda: not gate.faults, 30)
    request = asked()
    wait_until(lambda: not gate.crowded, 30)
    answer("yes", member)
    assert result(asking)["id"] == request.pk
    assert Request.objects.count() == 1
    assert (len(gate.keys()), len(set(gate.keys()))) == (3, 1)


@pytest.mark.django_db(transaction=True)
def test_it_waits_twice_as_long_each_time(start: Start, gate: Gate, make: Make) -> None:
    """Up to half a minute, at least for Retry-After, and no longer than its patience."""
    ended = make()
    cancel_request(request_id=ended.pk, account_id=ended.creator_id)

    def repeat(
        *faults: Fault, call: str = "check", patience: int = 600, seconds: int | None = None
    ) -> tuple[int, list[float]]:
        gate.faults[:] = faults
        more = {"call": call, "patience": patience, "seconds": seconds}
        done = result(start("repeat", id=ended.pk, **more))
        return done["status"], done["pauses"]

    named = [Fault(status) for status in (503, 500, 408, 409, 429, 502)]
    status, pauses = repeat(*named, *[Fault()] * 4)
    assert (status, len(pauses)) == (200, 10)
    for number, pause in enumerate(pauses):
        assert 0.5 <= pause / min(0.5 * 2**number, 30) <= 1, pauses
    status, (first, second) = repeat(*[Fault(503, {"Retry-After": it}) for it in ("7", LONG_AGO)])
    assert (status, 7 <= first <= 7.5, second <= 1) == (200, True, True)
    status, pauses = repeat(*[Fault(503)] * 9, patience=3)
    assert (status, sum(pauses) <= 3, 2 <= len(pauses) <= 4) == (503, True, True)
    quota = [Fault(429, {"Retry-After": "3000"})] * 2
    assert repeat(*quota) == (429, [])
    status, pauses = repeat(*quota, call="wait")
    assert (status, [int(pause) for pause in pauses]) == (200, [3000, 3000])
    assert repeat(*quota, call="wait", seconds=5) == (429, [])
    assert repeat(Fault(503, {"Retry-After": "20"}), call="wait", seconds=5) == (503, [])
    assert repeat(Fault(302, {"Location": gate.url})) == (302, [])  # the key goes nowhere else
    status, pauses = repeat(Fault(200))  # of something in between
    assert (status, len(pauses)) == (200, 1)


@pytest.mark.django_db(transaction=True)
def test_a_call_that_may_not_wait_pauses(
    start: Start, gate: Gate, make: Make, member: User
) -> None:
    """The service answers at once where too many calls wait (`Wait-Applied: 0`)."""
    request = make()
    gate.crowded = 4
    waiting = start("repeat", call="wait", patience=30, id=request.pk)
    wait_until(lambda: len(gate.calls) == 5, 30)  # the fifth waits
    answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert result(waiting) == {"status": 200, "pauses": [1, 2, 4, 8]}


@pytest.mark.django_db(transaction=True)
def test_a_silent_service_does_not_make_a_wait_longer(start: Start, make: Make) -> None:
    wait, other = result(start("limits", id=make().pk))
    assert (5 < wait <= 6, other) == (True, 30)


@pytest.mark.django_db(transaction=True)
def test_pages_repeat_nothing(start: Start, make: Make) -> None:
    made = [make().pk for _ in range(5)]
    assert result(start("pages", body=FIELDS)) == made[::-1]


@pytest.mark.django_db(transaction=True)
def test_metadata(start: Start, make: Make, loop: Loop) -> None:
    pairs = {"order": "1042", "__proto__": "a]b[c=d&e"}
    made = make(metadata=pairs).pk
    make(metadata={"order": "1042"})
    found = result(start("findByMetadata", metadata=pairs, loop=loop.pk))
    assert (found[0], json.loads(found[1]), found[2]) == (made, pairs, made)
    assert len(found) == 3


@pytest.mark.django_db(transaction=True)
def test_a_list_follows_its_rows(start: Start, make: Make) -> None:
    made = [make().pk for _ in range(7)]
    assert result(start("cancelAll")) == made[::-1]


@pytest.mark.django_db(transaction=True)
def test_pages_of_a_service_without_cursors(start: Start, gate: Gate, make: Make) -> None:
    gate.is_old = True
    made = [make().pk for _ in range(5)]
    assert result(start("pages", body=FIELDS)) == made[::-1]


@pytest.mark.django_db(transaction=True)
def test_what_was_done_already(start: Start, gate: Gate, make: Make, loop: Loop) -> None:
    gate.faults += [
        Fault(is_forwarded=True, method="DELETE"),
        Fault(is_forwarded=True, method="DELETE"),
    ]
    assert result(start("lost", id=make().pk, loop=loop.pk)) == ["InvalidCall", "NotFound"]


@pytest.mark.django_db(transaction=True)
def test_which_loop_is_asked(start: Start, owner: User) -> None:
    assert result(start("find", names=[None, None, "Questions"])) == ["Questions"] * 3
    other = create_loop(owner_id=owner.pk, name="Night shift", icon="bell")
    known = "Your loops: Night shift, Questions."
    names = [None, other.pk.upper(), "Night shift", "Nobody"]
    assert result(start("find", names=names)) == [
        f"Which loop? {known}",
        "Night shift",
        "Night shift",
        f'There is no loop "Nobody". {known}',
    ]


@pytest.mark.django_db(transaction=True)
def test_a_question_that_has_ended(
    start: Start, gate: Gate, loop: Loop, member: User, tmp_path: Path
) -> None:
    """Its answer is in the file, and the file is for nobody else."""
    asking = start("ask", question="Ship it?", resume="deploy-4711")
    request = answer("yes", member)
    assert result(asking)["value"] == "yes"
    (file,) = (tmp_path / "state").iterdir()
    assert (file.parent.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    before = len(gate.calls)
    assert result(start("ask", question="Ship it?", resume="deploy-4711"))["id"] == request.pk
    assert [call.path for call in gate.calls[before:]] == ["/v1/test"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_known", [True, False])
def test_a_question_of_more_than_a_day_ago(
    start: Start, gate: Gate, loop: Loop, member: User, make: Make, tmp_path: Path, is_known: bool
) -> None:
    """The service has forgotten its Idempotency-Key: the request is read, or looked for."""
    asking = start("ask", question="Ship it?", resume="deploy-4711")
    request = answer("yes", member)
    result(asking)
    make(request_text="Ship it?")  # another one with the same words
    (file,) = (tmp_path / "state").iterdir()
    entry = json.loads(file.read_text())
    found = {"requestId": request.pk if is_known else None, "request": None}
    file.write_text(json.dumps({**entry, **found, "begunAt": entry["begunAt"] - 86400_000}))
    StoredResponse.objects.all().delete()
    assert result(start("ask", question="Ship it?", resume="deploy-4711"))["id"] == request.pk
    assert Request.objects.count() == 2
    assert len(gate.keys()) == 1


@pytest.mark.django_db(transaction=True)
def test_what_may_have_been_asked_keeps_its_name(
    start: Start, gate: Gate, owner: User, loop: Loop, member: User, tmp_path: Path
) -> None:
    """A 403 to a repeated create proves nothing: the first one may have arrived."""
    gate.faults += [Fault(is_forwarded=True, method="POST"), Fault(403, method="POST")]
    assert result(start("ask", question="Ship it?", resume="deploy"))["name"] == "Forbidden"
    assert len(list((tmp_path / "state").iterdir())) == 1
    asking = start("ask", question="Ship it?", resume="deploy")
    answer("yes", member)
    assert result(asking)["value"] == "yes"
    assert Request.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_names_belong_to_an_account(
    start: Start, project: Path, gate: Gate, member_key: str, loop: Loop, member: User,
    tmp_path: Path,
) -> None:  # fmt: skip
    asking = start("ask", question="Ship it?", resume="deploy")
    answer("yes", member)
    assert result(asking)["value"] == "yes"
    scenario = json.dumps(
        {
            "name": "ask",
            "question": "Ship it?",
            "resume": "deploy",
            "folder": str(tmp_path / "state"),
        }
    )
    other = run_node(["ask.js"], project, URL=gate.url, KEY=member_key, SCENARIO=scenario)
    wait_until(lambda: Request.objects.filter(creator=member).exists(), 30)
    request = Request.objects.get(creator=member)
    cancel_request(request_id=request.pk, account_id=member.pk)
    assert result(other)["name"] == "Cancelled"


@pytest.mark.django_db(transaction=True)
def test_failures_that_do_not(start: Start, loop: Loop) -> None:
    wrong = result(start("ask", question="Ship it?", resume="x", more={"default": "perhaps"}))
    assert (wrong["name"], wrong["status"]) == ("InvalidCall", 400)
    assert wrong["message"].startswith("Invalid default response: default_response must match")
    missing = result(start("ask", question="Ship it?", resume="x", more={"loop": "Nobody"}))
    assert missing["message"] == 'There is no loop "Nobody". Your loops: Refund desk.'


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_sent_is_not_repeated(start: Start, gate: Gate, loop: Loop) -> None:
    assert result(start("unsendable", loop=loop.pk)) == [
        "TypeError",
        "TypeError",
        "ReviewLoopError",
        "ReviewLoopError",
        "ConnectionFailed",
    ]
    assert gate.calls == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("moment", MOMENTS)
def test_it_is_killed(start: Start, gate: Gate, loop: Loop, member: User, moment: str) -> None:
    gate.hold = MOMENTS[moment]
    first = start("ask", question="Ship it?", resume="deploy-4711")
    if "person" in moment:
        answer("yes", member)
    assert gate.held.wait(stretched(30))
    os.kill(first.pid, signal.SIGKILL)
    assert finish(first)[:2] == (-signal.SIGKILL, "")
    gate.release()

    second = start("ask", question="Ship it?", resume="deploy-4711")
    if "person" not in moment:
        answer("yes", member)
    assert result(second)["value"] == "yes"
    assert Request.objects.count() == 1
    assert len(set(gate.keys())) == 1
    # the second process knows that it is asked, once the first has got the answer to the create
    assert len(gate.keys()) == (1 if MOMENTS[moment][0] == "GET" else 2)


@pytest.mark.django_db(transaction=True)
def test_a_name_stands_for_one_question(start: Start, loop: Loop, member: User) -> None:
    more = {"traceparent": TRACES[0]}
    asking = start("ask", question="Ship it?", resume="deploy", more=more)
    assert answer("yes", member).traceparent == TRACES[0]
    assert result(asking)["value"] == "yes"
    for folder in (None, "elsewhere"):  # by its file, and by its Idempotency-Key
        more = {"folder": folder} if folder else {}
        other = result(start("ask", question="Ship that?", resume="deploy", **more))
        assert other["name"] == "ResumeConflict"
    assert Request.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_webhooks(start: Start) -> None:
    old, new = new_secret(), new_secret()
    body = '{"event": "request.completed", "response_data": "Größe ✓"}'

    def event(known: Any, now: int = NOW, changed: str = "", forged: Any = ()) -> dict[str, Any]:
        headers = signing.headers(
            message_id="msg_1",
            timestamp=NOW,
            body=body.encode(),
            plain_key=old.plain_key,
            standard_keys=[old.standard_key, new.standard_key],
        )
        return {
            "body": body + changed,
            "headers": headers | dict(forged),
            "secret": known,
            "now": now,
        }

    genuine = event(old.text)["headers"]
    version = {"webhook-signature": genuine["webhook-signature"].replace("v1,", "v2,")}
    nothing = {"webhook-signature": "v1,AAAA", "X-Service-Signature-256": "sha256="}
    events = [
        event(old.text),
        event([new.text, old.text]),
        event(new.text),
        event(old.text, NOW + 301),
        event(old.text, NOW - 301),
        event(old.text, forged={"webhook-timestamp": "soon"}),
        event(old.text, forged=version),
        event(old.text, forged={"webhook-signature": genuine["webhook-signature"] + " v9,x"}),
        event(old.text, changed=" "),
        event(old.text, forged=nothing),
        event(old.text, forged={"webhook-id": "msg_2"}),
        event([]),
        event("whsec_"),
    ]
    good, bad, unusable = "request.completed", "InvalidSignature", "TypeError"
    expected = [
        *(good, good),
        *(good, good),
        *(good, bad),  # the plain signature is made with the old secret until the end
        *(bad, good),  # and protects from no replay
        *(bad, good),
        *(bad, good),
        *(bad, good),
        *(good, good),
        *(bad, bad),
        *(bad, bad),
        *(bad, good),
        *(unusable, unusable),
        *(unusable, bad),
    ]
    assert result(start("verify", events=events)) == expected
    assert result(start("verify", events=events, asHeaders=True)) == expected
    # as node:http has them, and as a proxy may spell them
    for spelled in (str.lower, str.upper):
        headers = {spelled(name): value for name, value in genuine.items()}
        assert result(start("verify", events=[{**events[0], "headers": headers}])) == [good, good]
    whole = [{**events[0], "shape": shape} for shape in ("Buffer", "ArrayBuffer", "Uint8Array")]
    views = [{**events[0], "shape": shape} for shape in ("DataView", "Uint16Array")]
    assert len(body.encode()) % 2 == 0  # so that it fits into numbers of two bytes
    assert result(start("verify", events=[*whole, *views])) == [good] * 10
    parsed = [{**events[0], "shape": shape} for shape in ("parsed", "absent")]
    assert result(start("verify", events=parsed)) == [unusable] * 4


@pytest.mark.django_db(transaction=True)
def test_the_samples_of_its_readme(
    project: Path, gate: Gate, key: str, loop: Loop, member: User
) -> None:
    text = (TYPESCRIPT / "README.md").read_text(encoding="utf-8")
    asks, resumes, follows, _, receives = re.findall(r"^```js\n(.*?)^```", text, re.M | re.S)
    for count, block in enumerate((asks, resumes), 1):
        (project / "sample.mjs").write_text(block)
        variables = {"REVIEW_LOOP_URL": gate.url, "REVIEW_LOOP_KEY": key}
        sample = run_node(["sample.mjs"], project, **variables)
        wait_until(lambda count=count: Request.objects.count() == count, 30)  # type: ignore[misc]
        request = Request.objects.get(status="pending")
        answer_request(request=request, reviewer_id=member.pk, answer="yes")
        assert finish(sample)[1].startswith("yes")

    (project / "sample.mjs").write_text(follows)
    sample = run_node(["sample.mjs"], project, REVIEW_LOOP_URL=gate.url, REVIEW_LOOP_KEY=key)
    wait_until(lambda: gate.streams, 30)
    request = make_pending(loop)
    answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert sample.stdout
    assert sample.stdout.readline().split()[1:] == ["request.completed", request.pk, "yes"]
    sample.kill()
    sample.communicate()

    secret, now = "a secret of our own", int(time.time())
    body = '{"event": "request.completed", "request_id": "1", "response_data": "yes"}'
    headers = signing.headers(
        message_id="1",
        timestamp=now,
        body=body.encode(),
        plain_key=secret.encode(),
        standard_keys=[secret.encode()],
    )
    call = f"console.log(await receive({body!r}, {json.dumps(headers)}), await receive('', {{}}));"
    (project / "sample.mjs").write_text(receives.replace("whsec_…", secret) + call)
    assert finish(run_node(["sample.mjs"], project))[:2] == (
        0,
        "request.completed 1 yes\n204 401\n",
    )


@pytest.mark.django_db(transaction=True)
def test_events_arrive_across_broken_connections(
    start: Start, gate: Gate, loop: Loop, owner: User, member: User
) -> None:
    listening = start("listen", count=3)
    wait_until(lambda: len(gate.streams) == 1, 30)
    first, second, third = (make_pending(loop) for _ in range(3))
    answer_request(request=first, reviewer_id=member.pk, answer="yes")
    assert listening.stdout
    assert listening.stdout.readline() == f"request.completed {first.pk} yes\n"
    gate.faults = [Fault(503), Fault()]
    gate.cut()
    cancel_request(request_id=second.pk, account_id=owner.pk)
    wait_until(lambda: len(gate.streams) == 1, 30)
    cancel_request(request_id=third.pk, account_id=owner.pk)
    code, printed, complaints = finish(listening)
    assert (code, complaints) == (0, "")
    assert printed.splitlines() == [
        f"request.cancelled {second.pk} null",
        f"request.cancelled {third.pk} null",
        '{"events":3}',
    ]


@pytest.mark.django_db(transaction=True)
def test_a_stream_that_is_refused(start: Start, key: str) -> None:
    assert result(start("listen", count=1, after="x"))["status"] == 400
