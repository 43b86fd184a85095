"""Is everything well? Readable in ten seconds."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from accounts.usage import KeyUsage, read_hourly
from dashboard import request_examples, stats
from dashboard.access import page
from dashboard.deliveries import pulse
from loops.models import Loop
from web.charts import Chart, Series
from web.guards import SignedInRequest
from web.humanize import format_duration

HOURS = 24
MAX_KEYS = 8  # with a line of their own
NEARLY = 0.8  # of its limit, a key is worth a warning


@page
def overview(request: SignedInRequest) -> HttpResponse:
    account_id = request.user.pk
    waiting = stats.read_waiting(account_id)
    days, times = stats.read_days(account_id)
    keys = sorted(read_hourly(account_id, hours=HOURS), key=lambda key: -key.total)
    loop = Loop.objects.of_creator(account_id).newest_first().only("name").first()
    state = pulse()
    context: dict[str, Any] = {
        "loop": loop,
        "waiting": waiting,
        "open": sum(each.count for each in waiting),
        "times": times,
        "median": spoken(times.median),
        "slowest_tenth": spoken(times.slowest_tenth),
        "is_sample": any(day.times.answered > stats.MAX_ANSWERS for day in days),
        "most_answers": stats.MAX_ANSWERS,
        "timeouts": sum(day.timeouts for day in days),
        "dead": sum(day.dead for day in days),
        "since": days[0].day,
        "charts": charts(days),
        "usage": [meter(key) for key in keys[:MAX_KEYS]],
        "keys": len(keys),
        "usage_chart": usage_chart(keys),
        "pulse": state,
        "worries": worries(days, keys, state),
        "is_new": loop is None or not (times.answered or sum(w.count for w in waiting)),
        "tabs": request_examples.ask(loop.pk) if loop else request_examples.create_loop(),
    }
    return render(request, "dashboard/overview.html", context)


@dataclass(frozen=True, slots=True)
class Worry:
    """What is not well, in a sentence, and a link to what tells more."""

    text: str
    url: str = ""
    link: str = ""


def worries(days: list[stats.Day], keys: list[KeyUsage], state: dict[str, Any]) -> list[Worry]:
    """Nothing where everything is well."""
    today, yesterday = days[-1], days[-2]
    found = [] if state["is_well"] else [Worry(state["text"])]
    dead = today.dead + yesterday.dead
    if dead:
        text = f"{dead} deliver{'y' if dead == 1 else 'ies'} failed permanently since yesterday."
        url = f"{reverse('deliveries')}?state=dead"
        found.append(Worry(text, url, "Dead deliveries"))
    answered = today.times.answered + yesterday.times.answered
    late = today.timeouts + yesterday.timeouts
    if late and late >= answered:
        text = "More requests timed out than were answered since yesterday."
        url = f"{reverse('requests')}?status=timeout"
        found.append(Worry(text, url, "Timed out requests"))
    found.extend(
        Worry(
            f"The key {key.name} has used {key.current} of {key.limit} calls this hour.",
            reverse("key", kwargs={"key_id": key.key_id}),
            link="View key",
        )
        for key in keys
        if key.current >= key.limit * NEARLY
    )
    return found


def spoken(seconds: float | None) -> str:
    return "–" if seconds is None else format_duration(seconds)


def charts(days: list[stats.Day]) -> list[Chart]:
    labels = [f"{each.day:%a} {each.day.day}" for each in days]
    slowest = max((day.times.slowest_tenth or 0 for day in days), default=0)
    unit, size = ("hours", 3600) if slowest > 7200 else ("minutes", 60)
    medians = [scaled(day.times.median, size) for day in days]
    tenths = [scaled(day.times.slowest_tenth, size) for day in days]
    return [
        Chart(
            title=f"Answer times, in {unit}",
            labels=labels,
            series=[Series("Median", medians), Series("90% within", tenths)],
            unit=unit,
            kind="lines",
        ),
        Chart(
            title="Timeouts and dead deliveries",
            labels=labels,
            series=[
                Series("Timed out", [day.timeouts for day in days]),
                Series("Dead deliveries", [day.dead for day in days]),
            ],
        ),
    ]


def scaled(seconds: float | None, size: int) -> float | None:
    return None if seconds is None else round(seconds / size, 2)


def meter(key: KeyUsage) -> dict[str, Any]:
    """A key's hour against its limit."""
    share = min(100, round(100 * key.current / key.limit))
    return {"key": key, "share": share, "is_nearly": key.current >= key.limit * NEARLY}


def usage_chart(keys: list[KeyUsage]) -> Chart | None:
    """Calls of all keys in each of the last hours."""
    if not keys:
        return None
    hours = list(keys[0].hours)
    labels = [f"{timezone.localtime(hour):%H:%M}" for hour in hours]
    values = [sum(key.hours.get(hour, 0) for key in keys) for hour in hours]
    return Chart(
        title="Calls in the last 24 hours", labels=labels, series=[Series("Calls", values)]
    )
