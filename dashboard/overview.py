"""The overview page: alerts, open requests, answer times and API usage of the account."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import dateformat, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.usage import KeyUsage, read_hourly
from dashboard import setup, stats
from dashboard.access import page
from dashboard.deliveries import describe_failing, describe_worker_status
from web.bidi import isolate
from web.charts import Chart, Series
from web.guards import SignedInRequest
from web.humanize import format_count, format_duration
from web.replica import prefer_replica

HOURS = 24
MAX_KEYS = 8  # each with its own line
ALERT_SHARE = 0.8  # share of the hourly limit from which on a key causes an alert


@page
@prefer_replica
def overview(request: SignedInRequest) -> HttpResponse:
    account_id = request.user.pk
    waiting = stats.read_waiting(account_id)
    days, times = stats.read_days(account_id)
    keys = sorted(read_hourly(account_id, hours=HOURS), key=lambda key: -key.total)
    progress = setup.read_progress(account_id)
    worker_status = describe_worker_status()
    failing = describe_failing(account_id)
    alerts = find_alerts(days, keys, worker_status)
    context: dict[str, Any] = {
        "loop": progress.loop,
        "waiting": waiting,
        "open": sum(each.count for each in waiting),
        "times": times,
        "median": format_seconds(times.median),
        "slowest_tenth": format_seconds(times.slowest_tenth),
        "is_sample": any(day.times.answered > stats.MAX_ANSWERS for day in days),
        "most_answers": stats.MAX_ANSWERS,
        "timeouts": sum(day.timeouts for day in days),
        "dead": sum(day.dead for day in days),
        "since": days[0].day,
        "charts": build_charts(days),
        "usage": [describe_usage(key) for key in keys[:MAX_KEYS]],
        "keys": len(keys),
        "usage_chart": build_usage_chart(keys),
        "worker_status": worker_status,
        "alerts": alerts,
        "failing": failing,
        "problems": len(alerts) + len(failing["hosts"]) + failing["has_more"],
        "setup": setup.build_checklist(request, progress),
    }
    return render(request, "dashboard/overview.html", context)


@dataclass(frozen=True, slots=True)
class Alert:
    """A sentence about a problem, and a link to its details."""

    text: str
    url: str = ""
    link: str = ""


def find_alerts(
    days: list[stats.Day], keys: list[KeyUsage], worker_status: dict[str, Any]
) -> list[Alert]:
    """Returns the problems that need attention; empty if there are none."""
    today, yesterday = days[-1], days[-2]
    alerts = [] if worker_status["is_well"] else [Alert(worker_status["text"])]
    dead = today.dead + yesterday.dead
    if dead:
        text = ngettext(
            "%(count)s delivery failed permanently since yesterday.",
            "%(count)s deliveries failed permanently since yesterday.",
            dead,
        ) % {"count": format_count(dead)}
        url = f"{reverse('deliveries')}?state=dead"
        alerts.append(Alert(text, url, _("Dead deliveries")))
    answered = today.times.answered + yesterday.times.answered
    late = today.timeouts + yesterday.timeouts
    if late and late >= answered:
        text = _("More requests timed out than were answered since yesterday.")
        url = f"{reverse('requests')}?status=timeout"
        alerts.append(Alert(text, url, _("Timed out requests")))
    alerts.extend(
        Alert(
            _("The key %(name)s has used %(current)s of %(limit)s calls this hour.")
            % {
                "name": isolate(key.name),
                "current": format_count(key.current),
                "limit": format_count(key.limit),
            },
            reverse("key", kwargs={"key_id": key.key_id}),
            link=_("View key"),
        )
        for key in keys
        if key.current >= key.limit * ALERT_SHARE
    )
    return alerts


def format_seconds(seconds: float | None) -> str:
    return "–" if seconds is None else format_duration(seconds)


def build_charts(days: list[stats.Day]) -> list[Chart]:
    labels = [dateformat.format(each.day, pgettext("date", "D j")) for each in days]
    slowest = max((day.times.slowest_tenth or 0 for day in days), default=0)
    unit, size = (_("hours"), 3600) if slowest > 7200 else (_("minutes"), 60)
    medians = [scale(day.times.median, size) for day in days]
    tenths = [scale(day.times.slowest_tenth, size) for day in days]
    return [
        Chart(
            title=_("Answer times, in %(unit)s") % {"unit": unit},
            labels=labels,
            series=[Series(_("Median"), medians), Series(_("90%% within") % (), tenths)],
            unit=unit,
            kind="lines",
        ),
        Chart(
            title=_("Timeouts and dead deliveries"),
            labels=labels,
            series=[
                Series(_("Timed out"), [day.timeouts for day in days]),
                Series(_("Dead deliveries"), [day.dead for day in days]),
            ],
        ),
    ]


def scale(seconds: float | None, size: int) -> float | None:
    return None if seconds is None else round(seconds / size, 2)


def describe_usage(key: KeyUsage) -> dict[str, Any]:
    """Returns the share of its hourly limit that a key has used, in percent."""
    share = min(100, round(100 * key.current / key.limit))
    return {"key": key, "share": share, "is_nearly": key.current >= key.limit * ALERT_SHARE}


def build_usage_chart(keys: list[KeyUsage]) -> Chart | None:
    """Builds the chart of the calls of all keys, hour by hour; None without keys."""
    if not keys:
        return None
    hours = list(keys[0].hours)
    labels = [f"{timezone.localtime(hour):%H:%M}" for hour in hours]
    values = [sum(key.hours.get(hour, 0) for key in keys) for hour in hours]
    return Chart(
        title=_("Calls in the last 24 hours"), labels=labels, series=[Series(_("Calls"), values)]
    )
