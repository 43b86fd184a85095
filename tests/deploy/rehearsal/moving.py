"""A backup of one server becomes another, which is quiet until its operator says otherwise."""

import json
import time
from pathlib import Path

from tests.deploy.files import read_assignments
from tests.deploy.rehearsal import docs
from tests.deploy.rehearsal.site import Site
from tests.waiting import wait_until

BANNER = "Nothing is sent at the moment"
QUIET = 5.0  # seconds in which a server that is not quiet would have sent


def back_up(site: Site) -> str:
    """The unit of the timer, and the command; meanwhile webhooks wait, because a receiver fails."""
    site.receiver.respond = lambda _: (503, {})
    request_id = site.program.ask()
    assert site.people[0].answer(request_id, "yes")
    wait_until(lambda: ids_of(site, request_id), 60)
    site.shell.quote(docs.NIGHTLY)  # here it is the time of the timer
    (nightly,) = site.installation.run_folder().glob("review-loop-*.dump")
    assert nightly.stat().st_mode & 0o077 == 0
    site.shell.quote(docs.BACKUP)
    size = backup_of(site).stat().st_size / 1024
    return f"by the unit and by the command, beside the running service; {size:.0f} KiB"


def backup_of(site: Site) -> Path:
    return site.shell.root / "monday.dump"


def ids_of(site: Site, request_id: str) -> set[str]:
    """The ids of the webhooks about the answer of a request that came."""
    found = set()
    for post in list(site.receiver.posts):
        event = json.loads(post.body)
        if (event["event"], event["request_id"]) == ("request.completed", request_id):
            found.add(post.webhook_id)
    return found


def restore(old: Site, new: Site) -> str:
    """The steps of the documents: settings, restore, start; nothing is sent, everything says so."""
    old.installation.stop()
    site = new.shell
    site.etc.mkdir()
    given = read_assignments((old.shell.etc / "env").read_text())
    given |= {
        "DATABASE_URL": new.servers.pooled,
        "DATABASE_DIRECT_URL": new.servers.direct,
        "REDIS_URL": new.servers.redis,
    }
    lines = "".join(f"{name}={value}\n" for name, value in given.items())
    (site.etc / "env").write_text(lines)
    (site.etc / "worker.env").write_text(f"DATABASE_URL={new.servers.pooled}_worker\n")
    for command in docs.read_install():
        if command.startswith(("ln ", "export ", "chmod ")):
            site.type(command)
    said = site.quote(docs.RESTORE, FILE=str(backup_of(old)))
    assert "Deliveries are off" in said, said
    for command in docs.read_install():
        if command.startswith("systemctl "):
            site.type(command)
    wait_until(new.installation.is_ready, 60)
    new.owner, new.people, new.program = old.owner, old.people, old.program
    return stay_quiet(old, new)


def stay_quiet(old: Site, new: Site) -> str:
    """The banner, what would be sent, and doctor; meanwhile a new answer is not sent either."""
    before = len(new.receiver.posts)
    for page in ("/dashboard/account/", "/inbox/"):
        assert BANNER in new.owner.open(page), (
            "the session works, and pages say that nothing is sent"
        )
    request_id = new.program.ask()
    assert new.people[0].answer(request_id, "yes")
    said = new.shell.quote(docs.DELIVERIES)
    assert "waiting for 127.0.0.1" in said, said
    assert "Deliveries are off" in new.shell.quote(docs.DOCTOR)
    time.sleep(QUIET)
    assert len(new.receiver.posts) == before
    return f"everybody is still signed in; {said.splitlines()[0].partition(';')[2].strip()}"


def send_again(site: Site) -> str:
    """`deliveries on`: what waited goes out, once, with the id that it had."""
    waiting = {
        post.webhook_id for post in site.receiver.posts if b'"request.completed"' in post.body
    }
    site.receiver.respond = lambda _: (200, {})
    before = len(site.receiver.posts)
    said = site.shell.quote(docs.DELIVERIES_ON)
    assert "Deliveries are on" in said, said
    wait_until(lambda: len(site.receiver.posts) >= before + 2, 120)
    sent = [post.webhook_id for post in site.receiver.posts[before:]]
    assert len(sent) == len({*sent})
    again = {*sent} & waiting
    assert again, "the webhook that had failed before has another id"
    assert "Deliveries are on" in site.shell.quote(docs.DELIVERIES)
    return f"{len(sent)} webhooks, {len(again)} of them under the id that the old server had used"
