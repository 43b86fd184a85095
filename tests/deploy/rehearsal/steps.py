"""The steps on one installation: from the first command to an erased person.

Each takes the site and returns what it found, for the table of the page.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import requests

from tests.deploy.files import read_assignments
from tests.deploy.rehearsal import docs
from tests.deploy.rehearsal.people import Browser
from tests.deploy.rehearsal.site import Site
from tests.deploy.rehearsal.terminal import OPERATOR
from tests.waiting import wait_until

# As the documents make them for a new installation.
MAKE_KEY = "openssl rand -base64 32 | tr '+/' '-_'"
MAKE_SECRET = "openssl rand -base64 48"


def install(site: Site) -> str:
    """Every command of the documents; TLS, health, doctor."""
    site.install()
    here = site.installation
    for address in here.web_addresses:
        assert requests.get(f"http://{address}/readyz", timeout=10).ok
    assert here.get("/readyz").ok  # its certificate is checked
    plain = requests.get(
        f"http://127.0.0.1:{here.http}/inbox/",
        headers={"Host": "localhost"},
        allow_redirects=False,
        timeout=10,
    )
    assert (plain.status_code, plain.headers["Location"]) == (308, f"{here.site}/inbox/")
    said = site.shell.quote(docs.DOCTOR)  # exits with 1 if something is wrong
    assert "The pooler answers, with limits of time." in said, said
    for name, command in zip(("worker", "beat"), docs.ALIVE, strict=True):
        run_of_unit(site, name, command)
    return f"{len(docs.read_install())} commands; http leads to https, doctor finds nothing wrong"


def run_of_unit(site: Site, name: str, command: docs.Quoted) -> None:
    """A check of health, with the variables of the unit."""
    given = site.installation.environment_of(name)
    words = [sys.executable, *command.text.split()[1:]]
    subprocess.run(
        words, cwd=site.installation.code, env=given, check=True, stdout=subprocess.DEVNULL
    )


def first_answer(site: Site) -> str:
    """From the sign-up to an answered question and its webhook, and the operator's pages."""
    site.populate()
    round_trip(site)
    site.shell.type(docs.read_install()[-1])
    site.owner.open("/admin/")
    return "three people sign up; a question, its answer, its webhook; /admin/ opens"


def round_trip(site: Site) -> None:
    """A program asks and waits, a person answers, and the webhook comes."""
    request_id = site.program.ask()
    assert site.people[0].answer(request_id, "yes")
    found = site.program.read(request_id, wait=20)
    assert (found["status"], found["response_data"]) == ("completed", "yes")
    wait_until(lambda: f'"{request_id}"' in bodies(site), 60)


def bodies(site: Site) -> str:
    return "".join(
        post.body.decode() for post in site.receiver.posts if b"request.completed" in post.body
    )


def second_machine(site: Site) -> str:
    """A second machine with a web server and a worker."""
    site.add_machine()
    round_trip(site)
    return "a third web server with WEB_HOST and a second worker; nginx takes both machines"


def restart(site: Site) -> str:
    """Every process on both machines is replaced while people and programs work."""
    traffic = site.new_traffic()
    before = traffic.tries.calls
    with traffic.flowing():
        site.replace_processes()
        traffic.wait_for_more()
    assert before < traffic.tries.calls
    return f"{traffic.check(site.servers.direct)}; {traffic.tries.describe()}"


def change_keys(site: Site) -> str:
    """The three steps of both keys, each on both machines, with all kinds of nodes in between."""
    old = read_assignments((site.shell.etc / "env").read_text())
    key, secret = command(MAKE_KEY), command(MAKE_SECRET)
    append = {
        "ENCRYPTION_KEYS": f"{old['ENCRYPTION_KEYS']},{key}",
        "SECRET_KEY_FALLBACKS": secret,
    }
    move = {
        "ENCRYPTION_KEYS": f"{key},{old['ENCRYPTION_KEYS']}",
        "SECRET_KEY": secret,
        "SECRET_KEY_FALLBACKS": old["SECRET_KEY"],
    }
    looks = 0
    for change in (append, move, {"ENCRYPTION_KEYS": key}):
        for _ in roll_out(site, change):
            looks += stay_signed_in(site)
        round_trip(site)
        if change is move:
            said = site.shell.quote(docs.ROTATE)
            assert re.search(r"Secrets of \d+ accounts now use the first key", said), said
    return f"nobody was signed out in {looks} looks on the way, new sessions included"


def command(text: str) -> str:
    return subprocess.run(
        ["sh", "-c", text], check=True, capture_output=True, encoding="utf-8"
    ).stdout.strip()


def roll_out(site: Site, change: dict[str, str]) -> Iterator[None]:
    """Writes settings and restarts, one machine after the other; stops in between."""
    for shell in (site.shell, site.second):
        assert shell is not None
        file = shell.etc / "env"
        lines = {**read_assignments(file.read_text()), **change}
        file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        beat = " review-loop-beat" if shell is site.shell else ""
        others = " review-loop-web@8001" if shell is site.shell else ""
        shell.type("systemctl restart review-loop-web@8000")
        wait_until(site.installation.is_ready, 60)
        yield
        shell.type(f"systemctl restart review-loop-worker{others}{beat}")
        wait_until(site.installation.is_ready, 60)
        yield


def stay_signed_in(site: Site) -> int:
    """Looks at each web server for everybody, and for one who has signed in just now."""
    new = site.new_browser()
    new.sign_in(OPERATOR)
    looks = [
        person.is_known_at(address)
        for person in (new, site.owner, *site.people)
        for address in site.installation.web_addresses
    ]
    assert all(looks), looks
    return len(looks)


@dataclass
class Erased:
    """Somebody who answered for others and had a loop with a key."""

    email: str
    key: str
    browser: Browser
    request_id: str


def erase(site: Site) -> str:
    """Exports a person and erases them; the main lines of the table are looked at."""
    person = Erased("anna@example.com", "", site.people.pop(0), "")
    person.browser.make_loop()
    person.key = person.browser.make_key()
    person.request_id = site.program.ask()
    assert person.browser.answer(person.request_id, "yes")
    exported = json.loads(site.shell.quote(docs.EXPORT, EMAIL=person.email))
    assert person.email in json.dumps(exported)
    assert person.request_id in json.dumps(exported)
    erasing = f"{docs.ERASE.text} {docs.WITHOUT_ASKING.text}"
    said = site.shell.quote(docs.quote(erasing, ""), EMAIL=person.email)
    pseudonym = re.search(r"Erased person \w+", said)
    assert pseudonym, said
    look_at_erased(site, person, pseudonym[0])
    return "export, then erased: session, key, loop, name and address are gone, the answer stays"


def look_at_erased(site: Site, person: Erased, pseudonym: str) -> None:
    here = site.installation
    page = person.browser.call("GET", "/dashboard/account/")
    assert page.is_redirect, "the session still works"
    headers = {"Authorization": f"Bearer {person.key}"}
    assert here.get("/v1/test", headers=headers).status_code == 401
    found = site.program.read(person.request_id)
    assert (found["status"], found["response_data"]) == ("completed", "yes")
    assert pseudonym in site.owner.open(f"/dashboard/requests/{person.request_id}/")
    with psycopg.connect(site.servers.direct) as connection:
        dump = "".join(
            str(row)
            for table in (
                "accounts_user",
                "loops_loop",
                "webhooks_delivery",
                "account_emailaddress",
            )
            for row in connection.execute(f"SELECT * FROM {table}").fetchall()
        )
    assert person.email not in dump
    again = site.new_browser()
    again.sign_up("Anna", person.email)  # as somebody new
