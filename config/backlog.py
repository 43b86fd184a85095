"""Counts what would be sent if deliveries were on, for `manage.py doctor` and `deliveries`."""

from collections.abc import Iterator

from mailing import gauges as mailing
from reviews import gauges as reviews
from web.web_urls import hide_credentials
from webhooks import gauges as webhooks

MAX_HOSTS = 20


def count_waiting() -> tuple[str, list[str]]:
    """Returns a phrase with all that waits, and a line for each of the hosts with the most."""
    hosts, notifications = webhooks.count_waiting_by_host(), reviews.count_waiting()
    emails = notifications["mail"] + mailing.count_waiting()
    total = sum(hosts.values())
    phrase = f"{total} webhooks, {notifications['push']} pushes and {emails} emails"
    return phrase, [*_list_hosts(hosts)]


def _list_hosts(hosts: dict[str, int]) -> Iterator[str]:
    shown = [*hosts.items()][:MAX_HOSTS]
    for host, count in shown:
        yield f"waiting for {hide_credentials(host)}: {count} webhooks"
    left = sum(hosts.values()) - sum(count for _, count in shown)
    if left:
        yield f"waiting for {len(hosts) - MAX_HOSTS} other hosts: {left} webhooks"
