"""`python -m bench [--quick] [PART ...]`: starts its own PostgreSQL and Redis, measures, and
prints tables. All parts together rewrite docs/performance.md.

Durability (fsync) is on here, unlike in tests.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bench import (
    answers,
    api,
    endpoints,
    first_paint,
    idle,
    inboxes,
    lighthouse,
    mcp,
    memory,
    page,
    scale,
    streams,
    waits,
)
from bench.outcome import Part, table
from bench.serving import Web, build_bare_command, web
from bench.stage import Stage, say, stage

SIZES = {"1k": 1_000, "100k": 100_000, "1M": 1_000_000}
QUICK = {"1k": 1_000, "100k": 100_000}
ENOUGH_TO_ANSWER = 4_000  # requests, of which the reviewer can answer more than a hundred
FLOOR = "bench.floor_settings"


def serve(here: Stage, size: str, stack: ExitStack, **environment: str) -> Web:
    return stack.enter_context(web(DATABASE_URL=here.database(size), **environment))


def serve_floor(here: Stage, size: str, stack: ExitStack) -> Web:
    """Starts the views of `bench.floor` on a bare server."""
    environment = {"DATABASE_URL": here.database(size), "DJANGO_SETTINGS_MODULE": FLOOR}
    return stack.enter_context(web(build_bare_command, **environment))


def measure_api(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures polls, creates and lists against the floor, and profiles polls."""
    cast = here.cast("1k", sizes["1k"])
    with ExitStack() as stack:
        floor = serve_floor(here, "1k", stack)
        service = serve(here, "1k", stack)
        stack.enter_context(here.upkeep("1k"))
        found = [
            api.compare(name, requests, floor, service, here.load, here.postmaster)
            for name, requests in api.calls(cast).items()
        ]
    polls = next(each.service for each in found if each.name == "poll")
    profile = here.profile("1k", cast)
    return Part(
        {"api": api.table_of(found), "profile": api.profile_of(profile, polls)},
        api.goals(found),
    )


def measure_endpoints(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures creates with and without webhook endpoints."""
    cast = here.cast("1k", sizes["1k"])
    with ExitStack() as stack:
        service = serve(here, "1k", stack)
        stack.enter_context(here.upkeep("1k"))
        database = here.database("1k")
        return endpoints.measure(service, cast, here.load, here.postmaster, database)


def measure_scale(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures every list at every size."""
    casts = {size: here.cast(size, count) for size, count in sizes.items()}
    with ExitStack() as stack:
        sites = {size: scale.Site(serve(here, size, stack), cast) for size, cast in casts.items()}
        return scale.measure(sites, here.load)


def measure_webhooks(here: Stage, _sizes: dict[str, int]) -> Part:
    """Measures a worker's deliveries against plain posts."""
    here.use()
    from bench import webhooks

    text = webhooks.run()
    return Part({"webhooks": text}, page.webhook_goals(text))


def measure_workers(here: Stage, _sizes: dict[str, int]) -> Part:
    """Measures deliveries of several workers at a time."""
    here.use()
    from bench import workers

    return workers.measure(here.postmaster)


def measure_sweep(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures sweeps of due requests among as many waiting ones as the largest size."""
    here.use()
    from bench import sweep

    return sweep.measure(max(sizes.values()))


def measure_growth(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures pruning of the largest size, and dropping a partition."""
    here.use()
    from bench import growth

    return growth.measure(max(sizes.values()))


def measure_memory(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures the memory of a web process over many calls."""
    cast = here.cast("1k", sizes["1k"])
    with ExitStack() as stack:
        alone = serve(here, "1k", stack, WEB_WORKERS="1")
        stack.enter_context(here.upkeep("1k"))
        return memory.measure(alone, cast, here.load)


def measure_waits(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures calls that wait for their answer, beside polls."""
    cast = here.cast("1k", sizes["1k"])
    with ExitStack() as stack:
        service = serve(here, "1k", stack)
        stack.enter_context(here.upkeep("1k"))
        return waits.measure(service, cast, here.load)


def measure_mcp(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures tools of MCP against the same calls of the API."""
    cast = here.cast("1k", sizes["1k"])
    with ExitStack() as stack:
        service = serve(here, "1k", stack)
        stack.enter_context(here.upkeep("1k"))
        return mcp.measure(service, cast, here.load, here.postmaster)


def measure_streams(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures streams of events, beside polls."""
    cast = here.cast("1k", sizes["1k"])
    with ExitStack() as stack:
        service = serve(here, "1k", stack)
        stack.enter_context(here.upkeep("1k"))
        return streams.measure(service, cast, here.load)


def measure_idle(_here: Stage, _sizes: dict[str, int]) -> Part:
    """Measures the whole service while nothing happens, on servers of its own."""
    with tempfile.TemporaryDirectory(prefix="review-loop-idle-") as folder:
        return idle.measure(Path(folder))


def measure_inboxes(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures the polls of open inboxes, in a database that no other part has filled."""
    cast = here.cast("pages", sizes["1k"])
    with ExitStack() as stack:
        service = serve(here, "pages", stack)
        return inboxes.measure(service, cast, here.load, here.postmaster)


def measure_paint(here: Stage, sizes: dict[str, int]) -> Part:
    """Measures a question's page in a browser on a slow network."""
    cast = here.cast("pages", sizes["1k"])
    with ExitStack() as stack:
        return first_paint.measure(serve(here, "pages", stack), cast)


def measure_answers(here: Stage, _sizes: dict[str, int]) -> Part:
    """Measures a reviewer at work, in a database of which the answers take nothing from others."""
    cast = here.cast("answers", ENOUGH_TO_ANSWER)
    with ExitStack() as stack:
        service = serve(here, "answers", stack)
        stack.enter_context(here.upkeep("answers"))
        return answers.measure(service, cast)


def measure_lighthouse(here: Stage, sizes: dict[str, int]) -> Part:
    """Rates pages with Lighthouse."""
    cast = here.cast("pages", sizes["1k"])
    with ExitStack() as stack:
        return lighthouse.measure(serve(here, "pages", stack), cast)


PARTS: dict[str, Callable[[Stage, dict[str, int]], Part]] = {
    "api": measure_api,
    "endpoints": measure_endpoints,
    "scale": measure_scale,
    "webhooks": measure_webhooks,
    "workers": measure_workers,
    "sweep": measure_sweep,
    "growth": measure_growth,
    "memory": measure_memory,
    "waits": measure_waits,
    "streams": measure_streams,
    "mcp": measure_mcp,
    "idle": measure_idle,
    "inboxes": measure_inboxes,
    "paint": measure_paint,
    "answers": measure_answers,
    "lighthouse": measure_lighthouse,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="without a million requests")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - PARTS.keys():
        sys.exit(f"There is no {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    found = {}
    with stage() as here:
        for name in chosen.parts or PARTS:
            started = time.monotonic()
            found[name] = PARTS[name](here, QUICK if chosen.quick else SIZES)
            for title, text in found[name].tables.items():
                say(f"\n{title}: {text}" if "\n" not in text else f"\n{title}\n\n{text}")
            say(f"\n{name} took {time.monotonic() - started:.0f} s")
    goals = [goal for part in found.values() for goal in part.goals]
    say("\n" + table(page.GOALS, [goal.cells() for goal in goals]))
    if not chosen.parts and not chosen.quick:
        say(f"\n{page.write(found)} is rewritten")


if __name__ == "__main__":
    main()
