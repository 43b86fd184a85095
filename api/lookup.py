"""Who may see and change a loop through a key (specification, Authentication, access rules)."""

from accounts.quota import Account
from api.errors import ApiError, InvalidLoopId, LoopNotFound
from db.ids import normalize_id
from loops.models import Loop, LoopQuerySet


def find_own_loop(
    raw_id: str, account: Account, *, denied: type[ApiError], among: LoopQuerySet | None = None
) -> Loop:
    """The loop, of which the caller must be the creator.

    Raises InvalidLoopId, LoopNotFound, or `denied`: in this order.
    """
    loop = find_loop(raw_id, among=among)
    if loop.creator_id != account.id:
        raise denied
    return loop


def find_loop(raw_id: str, *, among: LoopQuerySet | None = None) -> Loop:
    """The loop, whoever asks. Raises InvalidLoopId, LoopNotFound."""
    loop_id = read_loop_id(raw_id)
    loops = Loop.objects.alive() if among is None else among
    loop: Loop | None = loops.filter(pk=loop_id).first()
    if loop is None:
        raise LoopNotFound
    return loop


def read_loop_id(raw_id: str) -> str:
    """The id in a path. Raises InvalidLoopId."""
    loop_id = normalize_id(raw_id)
    if loop_id is None:
        raise InvalidLoopId
    return loop_id
