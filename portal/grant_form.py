"""The fields with which a reviewer allows equal calls for a while, beside an approval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest

from reviews.grants import MAX_USES, InvalidGrant, Terms, find_obstacle
from reviews.models import Request
from reviews.response_types.approval import read_proposal
from reviews.response_types.base import ANSWER
from web.phrases import say
from web.sanitize import show_invisible

VALUE: Final = "approve.grant"  # of the button
HOURS: Final = (1, 2, 4, 8)
USES: Final = (1, 5, 10, 20, 50, MAX_USES)
USUAL: Final = 10


@dataclass(frozen=True, slots=True)
class GrantFields:
    """What can be chosen: hours, how often at most, and which arguments have to be equal."""

    names: Sequence[str]
    value: str = VALUE
    hours: Sequence[int] = HOURS
    uses: Sequence[int] = USES
    usual: int = USUAL


def build(request: Request) -> GrantFields | None:
    """Builds the fields; None where nobody may allow calls equal to this one."""
    if find_obstacle(request):
        return None
    names = read_proposal(request.response_config).arguments
    return GrantFields([show_invisible(name) for name in names])


def read_terms(http: HttpRequest, request: Request) -> Terms | None:
    """Reads what was posted; None if only this call was decided about. Raises InvalidGrant."""
    if http.POST.get(ANSWER) != VALUE:
        return None
    if obstacle := find_obstacle(request):
        raise InvalidGrant(obstacle)
    known = list(read_proposal(request.response_config).arguments)
    chosen = http.POST.getlist("grant-name")
    names = [name for place, name in enumerate(known) if str(place) in chosen]
    return Terms(
        hours=_read_number(http.POST.get("grant-hours", "")),
        uses=_read_number(http.POST.get("grant-uses", "")),
        names=None if len(names) == len(known) else names,
    )


def _read_number(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and len(typed) <= 3):
        raise InvalidGrant(say("Enter whole numbers for hours and uses"))
    return int(typed)
