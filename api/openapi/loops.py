"""The OpenAPI descriptions of loops and their members."""

from typing import Any, Final

from api.errors import (
    CreatorStays,
    InvalidBody,
    InvalidLoopId,
    LoopDenied,
    LoopIconRequired,
    LoopNameRequired,
    LoopNotFound,
    NotAMember,
    NotCreatorForDelete,
    NotCreatorForRemoval,
    NotCreatorForUpdate,
    NothingToUpdate,
    ValidationFailed,
)
from api.loops import LoopDetail, LoopMember, LoopMembers, Loops
from api.openapi.operations import COUNT, ID, STRING, TIMESTAMP, Body, Operation, Operations
from api.serializers.loops import (
    LoopChanges,
    LoopInput,
    LoopSerializer,
    MemberSerializer,
    OwnLoopSerializer,
)

LOOP_PATH = {"loop_id": "The loop's id."}
MEMBERS: Final[list[dict[str, Any]]] = [
    {
        "user_id": "019df2a0e1789c5d3b6e8f12",
        "email": "ada@example.com",
        "status": "active",
        "joined_at": "2026-05-04T10:15:00.120Z",
        "verified": True,
    },
    {
        "user_id": "019df2a4550f0b7c2d9e4a66",
        "email": "grace@example.com",
        "status": "pending",
        "joined_at": None,
        "verified": False,
    },
]
LOOP: Final[dict[str, Any]] = {
    "id": "019df2a2b3c4d5e6f7a8b9c0",
    "name": "Refund desk",
    "description": "Decides on refunds above 50 €.",
    "icon": "shield-check",
    "creator_id": "019df2a0e1789c5d3b6e8f12",
    "members": MEMBERS,
    "member_count": 2,
    "pending_count": 1,
    "created_at": "2026-05-04T10:15:00.120Z",
    "updated_at": "2026-05-04T10:20:41.007Z",
}
INVITATION: Final = {
    "invite_code": "7KQ2MXWB9TRA",
    "join_url": "https://review.example.com/join/7KQ2MXWB9TRA",
    "qr_code_url": "https://review.example.com/qr/7KQ2MXWB9TRA.png",
}
OWN_LOOP: Final = {**LOOP, **INVITATION}
NEXT_OPERATIONS: Final = (
    "readLoop",
    "updateLoop",
    "deleteLoop",
    "listMembers",
    "createRequest",
    "listLoopRequests",
)
LINKS: Final = {name: {"loop_id": "$response.body#/data/loop/id"} for name in NEXT_OPERATIONS}

OPERATIONS: Operations = {
    (Loops, "POST"): Operation(
        name="createLoop",
        tag="Loops",
        summary="Create a loop",
        description="Creates a loop with you as its first active member. Give the join link, its "
        "QR code or the invite code to the people who should answer. Where the service sends "
        "email, only people with a confirmed address may join, unless `require_verified` is "
        "false; `allowed_domains` also limits the domains of their addresses. Whoever chooses an "
        "option in `comment_required_for`, by its value or label, has to write a comment. With "
        "`forbids_grants` nobody allows calls for a while.",
        message="Loop created successfully with QR code",
        status=201,
        body=Body(
            LoopInput,
            {
                "loop": {
                    "name": "Refund desk",
                    "description": "Decides on refunds above 50 €.",
                    "icon": "shield-check",
                }
            },
        ),
        data={
            "loop": LoopSerializer,
            "invite_code": STRING,
            "qr_code_base64": {"type": "string", "pattern": "^data:image/png;base64,"},
            "qr_code_url": {"type": "string", "format": "uri"},
            "join_url": {"type": "string", "format": "uri"},
        },
        example={
            "loop": {**LOOP, "members": MEMBERS[:1], "member_count": 1, "pending_count": 0},
            **INVITATION,
            "qr_code_base64": "data:image/png;base64,iVBORw0KGgo=",
        },
        errors=(LoopNameRequired, LoopIconRequired, ValidationFailed, InvalidBody),
        links=LINKS,
    ),
    (Loops, "GET"): Operation(
        name="listLoops",
        tag="Loops",
        summary="List your loops",
        description="The loops that your account created, the newest first, with their members.",
        message="Loops retrieved successfully",
        data={"loops": [LoopSerializer], "count": COUNT},
        example={"loops": [LOOP], "count": 1},
    ),
    (LoopDetail, "GET"): Operation(
        name="readLoop",
        tag="Loops",
        summary="Read a loop",
        description="Only the loop's creator may do this.",
        message="Loop retrieved successfully",
        paths=LOOP_PATH,
        data={"loop": OwnLoopSerializer},
        example={"loop": OWN_LOOP},
        errors=(InvalidLoopId, LoopDenied, LoopNotFound),
    ),
    (LoopDetail, "PUT"): Operation(
        name="updateLoop",
        tag="Loops",
        summary="Change a loop",
        description="Changes the fields that you send and nothing else. At least one field is "
        "needed. Only the loop's creator may do this.",
        message="Loop updated successfully",
        paths=LOOP_PATH,
        body=Body(
            LoopChanges,
            {
                "rename": {"name": "Refunds and vouchers"},
                "limit": {"allowed_domains": ["example.com"]},
            },
        ),
        data={"loop": OwnLoopSerializer},
        example={"loop": {**OWN_LOOP, "name": "Refunds and vouchers"}},
        errors=(
            InvalidLoopId,
            NothingToUpdate,
            ValidationFailed,
            InvalidBody,
            NotCreatorForUpdate,
            LoopNotFound,
        ),
    ),
    (LoopMembers, "GET"): Operation(
        name="listMembers",
        tag="Loops",
        summary="List a loop's members",
        description="Active members receive requests; pending members were invited and have not "
        "joined yet. `verified` says whether a person has confirmed their address. Only the loop's "
        "creator may do this.",
        message="Loop members retrieved successfully",
        paths=LOOP_PATH,
        data={
            "loop_id": ID,
            "members": [MemberSerializer],
            "count": COUNT,
            "total_count": {**COUNT, "description": "The same as count."},
            "member_count": {**COUNT, "description": "The same as count."},
            "active_count": COUNT,
            "pending_count": COUNT,
        },
        example={
            "loop_id": LOOP["id"],
            "members": MEMBERS,
            "count": 2,
            "total_count": 2,
            "member_count": 2,
            "active_count": 1,
            "pending_count": 1,
        },
        errors=(InvalidLoopId, LoopDenied, LoopNotFound),
    ),
    (LoopDetail, "DELETE"): Operation(
        name="deleteLoop",
        tag="Loops",
        summary="Delete a loop",
        description="The loop returns 404 from then on. Its open requests are cancelled, and their "
        "calls are not credited. Finished requests stay readable. Only the loop's creator may do "
        "this.",
        message="Loop deleted successfully",
        paths=LOOP_PATH,
        data={"loop_id": ID},
        example={"loop_id": LOOP["id"]},
        takes_trace=True,
        errors=(InvalidLoopId, NotCreatorForDelete, LoopNotFound),
    ),
    (LoopMember, "DELETE"): Operation(
        name="removeMember",
        tag="Loops",
        summary="Remove a member",
        description="The member, active or pending, loses access at once. Requests that they "
        "claimed become pending again. They may rejoin with the invite code. The user id that an "
        "invitation had reserved works, too. Only the loop's creator may do this.",
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
