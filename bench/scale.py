"""Measures first and deep pages of every list alternately at a thousand and a million requests."""

from dataclasses import dataclass
from enum import Enum
from statistics import median

from bench.cast import Cast
from bench.outcome import Goal, Part, table
from bench.serving import Load, Web, get, page

ROUNDS, CALLS, SECONDS = 3, 25, 0.5
SORTS = ("created_at_desc", "created_at_asc", "priority_desc", "status_asc")
FILTERS = (
    "",
    *(f"status={name}" for name in ("pending", "claimed", "completed", "timeout", "cancelled")),
    *(f"priority={name}" for name in ("low", "medium", "high", "critical")),
    "status=pending&priority=high",
    "status=completed&priority=critical",
    "loop",
    "loop&status=pending",
    "loop&status=completed&priority=high",
)
DEEP = ("", "status=completed", "priority=high", "loop")
PORTAL = ("/inbox/", "/inbox/?page=2", "/inbox/{waiting}/", "/loops/")
DASHBOARD = (
    "/my-work/",
    "/dashboard/",
    "/dashboard/requests/",
    "/dashboard/requests/?status=completed&priority=low",
    "/dashboard/requests/?q=order+refund",
    "/dashboard/requests/{request}/",
    "/dashboard/loops/",
    "/dashboard/loops/{loop}/",
    "/dashboard/deliveries/",
    "/dashboard/deliveries/?state=failing",
    "/dashboard/deliveries/?host=a.example",
    "/dashboard/deliveries/?host=a.example&state=dead",
    "/dashboard/keys/",
    "/dashboard/audit/",
)
OFFSETS = (10_000, 100_000)
FIRST, DEEPER = "first", "10000"
FULL = 0.9  # of the size of another page: texts differ a little


@dataclass(frozen=True)
class Site:
    """A service over one of the databases."""

    web: Web
    cast: Cast


class Reader(Enum):
    """The caller: a program with a key, or a person in a browser."""

    KEY = "key"
    OWNER = "owner"  # of half of all requests, and the only person who answered
    REVIEWER = "reviewer"


@dataclass(frozen=True)
class Page:
    """A call about the largest account; `kind` is first, or the offset."""

    name: str
    path: str
    kind: str = FIRST
    reader: Reader = Reader.KEY

    def request(self, cast: Cast) -> str:
        path = self.path.replace("loop_id=", f"loop_id={cast.loops[0]}")
        path = path.format(loop=cast.loops[0], request=cast.polls[0][0], waiting=cast.waiting)
        if self.reader == Reader.KEY:
            return get(path, cast.keys[0][0])
        return page(path, cast.owner if self.reader == Reader.OWNER else cast.cookie)


def pages() -> list[Page]:
    """The pages that are measured at every size."""
    found = [
        Page(f"{chosen or 'all'}, {sort}", path_of(chosen, sort))
        for chosen in FILTERS
        for sort in SORTS
    ]
    found += [
        Page(f"{chosen or 'all'}, {sort}", path_of(chosen, sort, offset), str(offset))
        for chosen in DEEP
        for sort in SORTS
        for offset in OFFSETS
    ]
    return [
        *found,
        Page("requests of a loop", "/v1/api/loops/{loop}/requests"),
        Page("loops", "/v1/api/loops"),
        Page("key check", "/v1/test"),
        *(Page(path, path, reader=Reader.REVIEWER) for path in PORTAL),
        *(Page(path, path, reader=Reader.OWNER) for path in DASHBOARD),
    ]


def path_of(chosen: str, sort: str, offset: int = 0) -> str:
    query = chosen.replace("loop", "loop_id=") + f"&sort={sort}&offset={offset}"
    return f"/v1/api/requests?{query.removeprefix('&')}"


@dataclass(frozen=True)
class Timed:
    """Milliseconds of a page, the best of its rounds, and its size in bytes."""

    took: float
    size: int


Found = dict[Page, dict[str, Timed]]


def measure(sites: dict[str, Site], load: Load) -> Part:
    """Measures medians in milliseconds at each size, for one caller at a time."""
    found = {each: timed(each, sites, load) for each in pages()}
    first, last = next(iter(sites)), list(sites)[-1]
    growth = growths(found, first, last)
    deep = list(deep_growths(found, last).values())
    pages_grow = f"first pages, {last} against {first}"
    deep_grow = f"offset 10,000 of {last} against the first page"
    return Part(
        {
            "first pages": first_table(found, growth),
            "deep pages": deep_table(found, last),
            "lists": str(len(growth)),
        },
        [
            Goal(f"{pages_grow}: median", 1.5, 1.2, median(growth.values()), at_most=True),
            Goal(f"{pages_grow}: worst", 1.5, 1.2, max(growth.values()), at_most=True),
            Goal(f"{deep_grow}: median", 3, 2, median(deep), at_most=True),
            Goal(f"{deep_grow}: worst", 3, 2, max(deep), at_most=True),
        ],
    )


def timed(each: Page, sites: dict[str, Site], load: Load) -> dict[str, Timed]:
    """Measures a page at every size alternately; the least disturbed round counts."""
    turns: dict[str, list[Timed]] = {size: [] for size in sites}
    for _ in range(ROUNDS):
        for size, site in sites.items():
            request = [each.request(site.cast)]
            volley = load.fire(site.web.port, request, seconds=SECONDS, calls=CALLS, connections=1)
            turns[size].append(Timed(volley.p50, volley.size))
    return {size: min(each, key=lambda turn: turn.took) for size, each in turns.items()}


def growths(found: Found, first: str, last: str) -> dict[Page, float]:
    """Returns how much longer full first pages take at the larger size."""
    return {
        each: by_size[last].took / by_size[first].took
        for each, by_size in found.items()
        if each.kind == FIRST and by_size[first].size > FULL * by_size[last].size
    }


def deep_growths(found: Found, size: str) -> dict[Page, float]:
    """Compares offset 10,000 with the first page of the same list, if both are full."""
    firsts = {each.name: by_size[size] for each, by_size in found.items() if each.kind == FIRST}
    return {
        each: by_size[size].took / firsts[each.name].took
        for each, by_size in found.items()
        if each.kind == DEEPER and by_size[size].size > FULL * firsts[each.name].size
    }


def first_table(found: Found, growth: dict[Page, float]) -> str:
    """Shows the lists that grow the most, and all pages that are not lists of requests."""
    ordered = sorted(growth, key=lambda each: -growth[each])
    lists = [each for each in ordered if ", " in each.name]
    context = [*lists[:8], *(each for each in ordered if ", " not in each.name)]
    rows = [
        [each.name, *(f"{at.took:.2f}" for at in found[each].values()), f"{growth[each]:.2f}"]
        for each in context
    ]
    return table(["page, ms", *next(iter(found.values())), "growth"], rows)


def deep_table(found: Found, size: str) -> str:
    """Shows lists at every offset; a dash where the list is shorter."""
    named: dict[str, list[Timed]] = {}
    for each, by_size in found.items():
        named.setdefault(each.name, []).append(by_size[size])
    rows = [
        [name, *(f"{at.took:.2f}" if at.size > FULL * kinds[0].size else "–" for at in kinds)]
        for name, kinds in named.items()
        if len(kinds) > 1
    ]
    offsets = [f"offset {offset:,}" for offset in OFFSETS]
    return table([f"page at {size}, ms", "first", *offsets], rows)
