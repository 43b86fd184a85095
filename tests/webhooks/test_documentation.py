"""docs/webhooks.md and examples/receiver.py, tried on real deliveries."""

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts import secret_services
from accounts.models import User
from db.ids import new_id
from outbox.dispatcher import Dispatcher
from tests.reviews.test_events import KEYS
from tests.webhooks.conftest import Emit, fresh
from tests.webhooks.receivers import Received, Receiver
from webhooks import services
from webhooks.channel import DELAYS
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
DRIVERS = {
    "python": """
import json, sys
for case in json.load(sys.stdin):
    body = base64.b64decode(case["body"])
    arguments = (body, case["headers"], case["secret"])
    print(json.dumps([verify(*arguments), verify_plain(*arguments)]))
""",
    "js": """
for (const { body, headers, secret } of JSON.parse(require("node:fs").readFileSync(0, "utf8"))) {
  const bytes = Buffer.from(body, "base64");
  const told = [verify(bytes, headers, secret), verifyPlain(bytes, headers, secret)];
  console.log(JSON.stringify(told));
}
""",
}


def snippet(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def judge(language: str, cases: list[tuple[Received, str]], folder: Path) -> list[list[bool]]:
    """What the page's verifiers of the trio and of the plain header say of each case."""
    program = folder / ("snippet.py" if language == "python" else "snippet.cjs")
    program.write_text(snippet(language) + DRIVERS[language], encoding="utf-8")
    interpreter = sys.executable if language == "python" else shutil.which("node")
    if interpreter is None:
        pytest.skip("there is no `node` on this machine to run the snippet with")
    told = json.dumps(
        [
            {
                "body": base64.b64encode(got.body).decode(),
                "headers": dict(got.headers),
                "secret": secret,
            }
            for got, secret in cases
        ]
    )
    finished = subprocess.run(
        [interpreter, program], input=told, capture_output=True, encoding="utf-8", timeout=30
    )
    assert finished.returncode == 0, finished.stderr
    return [json.loads(line) for line in finished.stdout.splitlines()]


def changed(got: Received, **headers: str) -> Received:
    renamed = {name.replace("_", "-"): value for name, value in headers.items()}
    return Received(got.path, {**got.headers, **renamed}, got.body)


@pytest.mark.parametrize("language", ["python", "js"])
def test_the_snippets_verify_real_deliveries(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit,
    owner: User, tmp_path: Path, language: str,
) -> None:  # fmt: skip
    def deliver() -> Received:
        emit_to(receiver.url)
        dispatcher.run_due()
        return receiver.got[-1]

    issued = deliver()
    old = secret_services.read_secrets(owner.pk).current.text
    new = secret_services.rotate_secret(account=owner).text
    rotating = deliver()
    secret_services.set_secret(account=owner, text="мой секрет")
    own = deliver()
    stale = str(int(issued.headers["webhook-timestamp"]) - 301)
    other = Received(issued.path, issued.headers, issued.body + b" ")
    cases = [
        (issued, old), (rotating, old), (rotating, new), (own, "мой секрет"),
        (issued, new), (other, old), (changed(issued, webhook_timestamp=stale), old),
        (changed(issued, webhook_id=new_id()), old),
        (changed(issued, webhook_signature="v1, v2,x é", x_service_signature_256="é"), old),
        (changed(issued, webhook_timestamp="soon"), old),
        (Received("/", {}, issued.body), old),
    ]  # fmt: skip
    assert judge(language, cases, tmp_path) == [
        [True, True], [True, True], [True, False], [True, True],
        [False, False], [False, False], [False, True], [False, True], [False, False],
        [False, True], [False, False],
    ]  # fmt: skip


class Example:
    """examples/receiver.py, as somebody would start it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "examples" / "receiver.py"],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "PORT": "0", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().removeprefix("Listening at ").strip()

    def stop(self) -> str:
        """What it printed since it listens."""
        self.process.terminate()
        return self.process.communicate(timeout=10)[0]


@contextlib.contextmanager
def example(folder: Path, **environment: str) -> Iterator[Example]:
    one = Example(folder, **environment)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


def status_of(delivery: Delivery) -> int | None:
    return delivery.attempts.latest("started_at").status_code


def test_the_receiver_takes_each_event_once(
    dispatcher: Dispatcher[Any], emit_to: Emit, owner: User, tmp_path: Path
) -> None:
    secret = secret_services.read_secrets(owner.pk).current.text
    with example(tmp_path, WEBHOOK_SECRET=secret) as first:
        (delivery,) = emit_to(first.url)
        dispatcher.run_due()
        assert (fresh(delivery).state, status_of(delivery)) == ("delivered", 204)
        services.resend(account_id=owner.pk, delivery_id=delivery.pk)
        dispatcher.run_due()
        assert status_of(delivery) == 204
        assert first.stop() == f"request.completed {delivery.subject_id} Größe ✓\n"
    with example(tmp_path, WEBHOOK_SECRET=secret) as second:  # it has not forgotten
        Delivery.objects.update(url=second.url)
        services.resend(account_id=owner.pk, delivery_id=delivery.pk)
        dispatcher.run_due()
        assert (fresh(delivery).state, status_of(delivery)) == ("delivered", 204)
        assert second.stop() == ""


def test_the_receiver_refuses_what_others_signed(
    dispatcher: Dispatcher[Any], emit_to: Emit, tmp_path: Path
) -> None:
    with example(tmp_path, WEBHOOK_SECRET="whsec_" + base64.b64encode(b"x" * 32).decode()) as one:
        (delivery,) = emit_to(one.url)
        dispatcher.run_due()
        assert (fresh(delivery).state, status_of(delivery)) == ("waiting", 401)
        assert one.stop() == ""


def test_the_receiver_changes_over_during_a_rotation(
    dispatcher: Dispatcher[Any], emit_to: Emit, owner: User, tmp_path: Path
) -> None:
    old = secret_services.read_secrets(owner.pk).current.text
    new = secret_services.rotate_secret(account=owner).text
    with example(tmp_path, WEBHOOK_SECRET=new, WEBHOOK_PREVIOUS_SECRET=old) as one:
        (delivery,) = emit_to(one.url)
        dispatcher.run_due()
        assert status_of(delivery) == 204
        secret_services.end_rotation(account=owner)
        (delivery,) = emit_to(one.url)
        dispatcher.run_due()
        assert status_of(delivery) == 204


def test_the_receiver_knows_own_secrets(
    dispatcher: Dispatcher[Any], emit_to: Emit, owner: User, tmp_path: Path
) -> None:
    secret_services.set_secret(account=owner, text="мой секрет")
    with example(tmp_path, WEBHOOK_SECRET="мой секрет") as one:
        (delivery,) = emit_to(one.url)
        dispatcher.run_due()
        assert status_of(delivery) == 204


def test_the_receiver_says_what_it_lacks(tmp_path: Path) -> None:
    one = Example(tmp_path)
    _, complaint = one.process.communicate(timeout=10)
    assert complaint.startswith("WEBHOOK_SECRET is not set;")
    assert one.process.returncode == 1


def test_the_page_tells_the_schedule() -> None:
    spoken = "5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h"
    assert spoken in " ".join(PAGE.split())
    units = {"s": 1, "min": 60, "h": 3600}
    seconds = [int(n) * units[unit] for n, unit in re.findall(r"(\d+) (s|min|h)\b", spoken)]
    assert tuple(seconds) == DELAYS


def test_the_page_shows_every_key_of_a_body() -> None:
    body: dict[str, Any] = json.loads(snippet("json"))
    assert list(body) == KEYS
    assert list(body["data"]) == ["request", "loop", "reviewer"]


def test_the_receiver_is_all_standard_library() -> None:
    source = (ROOT / "examples" / "receiver.py").read_text(encoding="utf-8")
    names = re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
    assert set(names) <= sys.stdlib_module_names
