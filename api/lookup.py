"""Finds loops for API calls and checks access (docs/contract.md, `auth.loop_rules`)."""

from accounts.quota import Account
from api.errors import ApiError, InvalidLoopId, LoopNotFound
from db.ids import normalize_id
from loops.models import Loop, LoopQuerySet


def find_own_loop(
    raw_id: str, account: Account, *, denied: type[ApiError], among: LoopQuerySet | None = None
) -> Loop:
    """Returns the loop; the account must have created it.

    Raises InvalidLoopId, LoopNotFound or `denied`, checked in this order.
    """
    loop = find_loop(raw_id, among=among)
    if loop.creator_id != account.id:
        raise denied
    return loop


def find_loop(raw_id: str, *, among: LoopQuerySet | None = None) -> Loop:
    """Returns the loop without an access check. Raises InvalidLoopId, LoopNotFound."""
    loop_id = read_loop_id(raw_id)
    loops = Loop.objects.alive() if among is None else among
    loop: Loop | None = loops.filter(pk=loop_id).first()
    if loop is None:
        raise LoopNotFound
    return loop


def read_loop_id(raw_id: str) -> str:
    """Reads the loop id of a path. Raises InvalidLoopId."""
    loop_id = normalize_id(raw_id)
    if loop_id is None:
        raise InvalidLoopId
    return loop_id
