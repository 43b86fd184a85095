"""Measures how many cores a thousand open inboxes need.

An open page polls every 3 s while its reader is active, every 60 s otherwise, and never from a
hidden tab (static/js/portal/polling.js). Measures the CPU of the web server and of PostgreSQL for
each poll that finds nothing new, over real connections.
"""

import html
import re
from urllib.parse import urlencode

from bench.cast import Cast
from bench.outcome import Goal, Part, table
from bench.serving import Load, Web, cpu_of, read_page

INBOXES = 1_000
ACTIVE, IDLE = 3, 60  # seconds between two polls
SECONDS = 10.0
MAX_CORES = 0.2  # cores
# How many of the thousand are active at one moment; after a minute without a touch, one is idle.
MIXES = {"one in twenty is used": 0.05, "one in five is used": 0.2, "every one is used": 1.0}


def poll(port: int, cookie: str) -> str:
    """The poll of an inbox that was just opened, as bytes on the wire."""
    page = read_page(port, "/inbox/", cookie)
    names = ("watch", "version", "since", "loop")
    said = {name: html.unescape(re.search(f'data-{name}="([^"]*)"', page)[1]) for name in names}  # type: ignore[index]
    query = urlencode({"v": said["version"], "since": said["since"], "loop": said["loop"]})
    lines = [
        f"GET /inbox/state/?{query} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Cookie: sessionid={cookie}",
        f"X-Watch: {said['watch']}",
    ]
    return "\r\n".join(lines) + "\r\n\r\n"


def measure(service: Web, cast: Cast, load: Load, postmaster: int) -> Part:
    """Returns the cores that a thousand inboxes need, by the number of active ones."""
    asked = poll(service.port, cast.cookie)
    load.fire(service.port, [asked], seconds=1.0)
    before = service.cpu(), cpu_of(postmaster)
    volley = load.fire(service.port, [asked], seconds=SECONDS)
    after = service.cpu(), cpu_of(postmaster)
    web_ms, database_ms = (
        (late - early) / volley.calls * 1000 for early, late in zip(before, after, strict=True)
    )
    rows, goals = [], []
    for name, used in MIXES.items():
        polls = INBOXES * (used / ACTIVE + (1 - used) / IDLE)
        cores = polls * (web_ms + database_ms) / 1000
        rows.append([name, f"{polls:.0f}", f"{cores:.2f}"])
        goals.append(Goal(f"1,000 inboxes, {name}", MAX_CORES, None, cores, " cores", at_most=True))
    cost = f"A poll: {web_ms:.2f} ms of the web server, {database_ms:.2f} ms of PostgreSQL."
    listed = table(["of 1,000 inboxes", "polls per second", "cores"], rows)
    return Part({"inboxes": f"{cost}\n\n{listed}"}, goals)
