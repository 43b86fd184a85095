"""What a loop's path does to its requests: deleting the loop, removing a member."""

from typing import ClassVar

from django.http import HttpResponse

from api.authentication import Call
from api.views import ApiView
from api.envelope import ok
from api.errors import (
    CreatorStays,
    DeleteLoopFailed,
    LoopNotFound,
    NotAMember,
    NotCreatorForDelete,
    NotCreatorForRemoval,
    RemoveMemberFailed,
)
from db.ids import normalize_id
from db.times import iso
from api import loops as loops_api
from api.lookup import find_own_loop
from loops.models import Loop, Membership
from reviews import services


class LoopDetail(loops_api.LoopDetail):
    """/api/loops/{id}"""

    permissions: ClassVar = {**loops_api.LoopDetail.permissions, "DELETE": "loops:write"}
    failures: ClassVar = {**loops_api.LoopDetail.failures, "DELETE": DeleteLoopFailed}

    def delete(self, request: Call, loop_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, request.user, denied=NotCreatorForDelete)
        try:
            services.delete_loop(loop_id=loop.id, key_id=request.auth.key_id)
        except Loop.DoesNotExist:
            raise LoopNotFound from None
        return ok("Loop deleted successfully", {"loop_id": loop.id})


class LoopMember(ApiView):
    """/api/loops/{id}/members/{userId}"""

    permissions: ClassVar = {"DELETE": "loops:write"}
    failures: ClassVar = {"DELETE": RemoveMemberFailed}

    def delete(self, request: Call, loop_id: str, user_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, request.user, denied=NotCreatorForRemoval)
        member_id = normalize_id(user_id)
        if member_id == loop.creator_id:
            raise CreatorStays
        try:
            removed_at = services.remove_member(
                loop_id=loop.id, member_id=member_id or "", key_id=request.auth.key_id
            )
        except Loop.DoesNotExist:
            raise LoopNotFound from None
        except Membership.DoesNotExist:
            raise NotAMember from None
        data = {"loop_id": loop.id, "user_id": member_id, "removed_at": iso(removed_at)}
        return ok("Member removed from loop successfully", data)
