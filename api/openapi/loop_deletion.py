"""Deleting a loop, removing a member."""

from typing import Final

from api.openapi.operations import ID, TIMESTAMP, Operation
from api.errors import (
    CreatorStays,
    InvalidLoopId,
    LoopNotFound,
    NotAMember,
    NotCreatorForDelete,
    NotCreatorForRemoval,
)
from api.openapi.loops import LOOP, LOOP_PATH, MEMBERS
from api.loops import LoopDetail, LoopMember

OPERATIONS: Final = {
    (LoopDetail, "DELETE"): Operation(
        name="deleteLoop",
        tag="Loops",
        summary="Delete a loop",
        description="The loop answers 404 from then on, and its open requests are cancelled, "
        "without credit. Finished ones stay readable. Only the loop's creator may.",
        message="Loop deleted successfully",
        paths=LOOP_PATH,
        data={"loop_id": ID},
        example={"loop_id": LOOP["id"]},
        errors=(InvalidLoopId, NotCreatorForDelete, LoopNotFound),
    ),
    (LoopMember, "DELETE"): Operation(
        name="removeMember",
        tag="Loops",
        summary="Remove a member",
        description="The member, active or pending, loses access at once; what they held as "
        "claimed waits for the others again. They may rejoin with the invite code. "
        "Only the loop's creator may.",
        message="Member removed from loop successfully",
        paths={**LOOP_PATH, "user_id": "The member's user id."},
        data={"loop_id": ID, "user_id": ID, "removed_at": TIMESTAMP},
        example={
            "loop_id": LOOP["id"],
            "user_id": MEMBERS[1]["user_id"],
            "removed_at": "2026-05-04T10:31:12.845Z",
        },
        errors=(InvalidLoopId, NotCreatorForRemoval, CreatorStays, LoopNotFound, NotAMember),
    ),
}
