"""Lists the time zones that people can choose, grouped by region, and finds a chosen one."""

import zoneinfo

from django.utils.translation import gettext

REGIONS = (
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe",
    "Indian", "Pacific",
)  # fmt: skip


def list_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Returns the groups of a select: UTC, then one for each region."""
    regions: dict[str, list[tuple[str, str]]] = {gettext("Everywhere"): [("UTC", "UTC")]}
    for name in sorted(zoneinfo.available_timezones()):
        region, _, place = name.partition("/")
        if region in REGIONS and place:
            regions.setdefault(region, []).append((name, place.replace("_", " ")))
    return list(regions.items())


def find_zone(name: str) -> zoneinfo.ZoneInfo:
    """Returns the time zone, or UTC if this machine no longer knows it."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")
