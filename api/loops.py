"""API views of loops and their members (docs/contract.md, `loop` and `member`)."""

from typing import ClassVar

from django.http import HttpResponse

from api.authentication import Call
from api.envelope import ok
from api.errors import (
    CreatorStays,
    LoopDenied,
    LoopNotFound,
    NotAMember,
    NotCreatorForDelete,
    NotCreatorForRemoval,
    NotCreatorForUpdate,
    NothingToUpdate,
)
from api.failures import (
    CreateLoopFailed,
    DeleteLoopFailed,
    ListLoopsFailed,
    ListMembersFailed,
    ReadLoopFailed,
    RemoveMemberFailed,
    UpdateLoopFailed,
)
from api.lookup import find_own_loop
from api.serializers.loops import (
    LoopChanges,
    LoopInput,
    LoopSerializer,
    MemberSerializer,
    OwnLoopSerializer,
)
from api.views import ApiView
from db.ids import normalize_id
from db.times import iso
from loops import qr, services
from loops.models import Loop, Membership
from reviews import services as review_services


class Loops(ApiView):
    """/api/loops"""

    permissions: ClassVar = {"GET": "loops:read", "POST": "loops:write"}
    failures: ClassVar = {"GET": ListLoopsFailed, "POST": CreateLoopFailed}

    def get(self, call: Call) -> HttpResponse:
        loops = Loop.objects.of_creator(call.account.id).with_members().newest_first()
        data = [LoopSerializer(loop).data for loop in loops]
        return ok("Loops retrieved successfully", {"loops": data, "count": len(data)})

    def post(self, call: Call) -> HttpResponse:
        fields = LoopInput().check(self.read_body(call))
        loop = services.create_loop(owner_id=call.account.id, key_id=call.caller.key_id, **fields)
        data = {
            "loop": LoopSerializer(read_fresh(loop)).data,
            "invite_code": loop.invite_code,
            "qr_code_base64": qr.render_data_uri(loop.join_url),
            "qr_code_url": loop.qr_code_url,
            "join_url": loop.join_url,
        }
        return ok("Loop created successfully with QR code", data, status=201)


class LoopDetail(ApiView):
    """/api/loops/{id}"""

    permissions: ClassVar = {"GET": "loops:read", "PUT": "loops:write", "DELETE": "loops:write"}
    failures: ClassVar = {
        "GET": ReadLoopFailed,
        "PUT": UpdateLoopFailed,
        "DELETE": DeleteLoopFailed,
    }

    def get(self, call: Call, loop_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, call.account, denied=LoopDenied)
        return ok("Loop retrieved successfully", {"loop": OwnLoopSerializer(read_fresh(loop)).data})

    def put(self, call: Call, loop_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, call.account, denied=NotCreatorForUpdate)
        changes = LoopChanges().check(self.read_body(call, empty_is_object=True))
        if not changes:
            raise NothingToUpdate
        try:
            review_services.update_loop(loop=loop, changes=changes, key_id=call.caller.key_id)
        except Loop.DoesNotExist:
            raise LoopNotFound from None
        return ok("Loop updated successfully", {"loop": OwnLoopSerializer(read_fresh(loop)).data})

    def delete(self, call: Call, loop_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, call.account, denied=NotCreatorForDelete)
        try:
            review_services.delete_loop(
                loop_id=loop.id,
                account_id=loop.creator_id,
                key_id=call.caller.key_id,
                traceparent=call.traceparent,
            )
        except Loop.DoesNotExist:
            raise LoopNotFound from None
        return ok("Loop deleted successfully", {"loop_id": loop.id})


class LoopMembers(ApiView):
    """/api/loops/{id}/members"""

    permissions: ClassVar = {"GET": "loops:read"}
    failures: ClassVar = {"GET": ListMembersFailed}

    def get(self, call: Call, loop_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, call.account, denied=LoopDenied)
        memberships = loop.memberships.with_people().in_order()
        members = [MemberSerializer(membership).data for membership in memberships]
        pending = sum(member["status"] == "pending" for member in members)
        data = {
            "loop_id": loop.id,
            "members": members,
            "count": len(members),
            "total_count": len(members),
            "member_count": len(members),
            "active_count": len(members) - pending,
            "pending_count": pending,
        }
        return ok("Loop members retrieved successfully", data)


class LoopMember(ApiView):
    """/api/loops/{id}/members/{userId}"""

    permissions: ClassVar = {"DELETE": "loops:write"}
    failures: ClassVar = {"DELETE": RemoveMemberFailed}

    def delete(self, call: Call, loop_id: str, user_id: str) -> HttpResponse:
        loop = find_own_loop(loop_id, call.account, denied=NotCreatorForRemoval)
        member_id = normalize_id(user_id)
        if member_id == loop.creator_id:
            raise CreatorStays
        try:
            removed_at = review_services.remove_member(
                loop_id=loop.id,
                account_id=loop.creator_id,
                member_id=member_id or "",
                key_id=call.caller.key_id,
            )
        except Loop.DoesNotExist:
            raise LoopNotFound from None
        except Membership.DoesNotExist:
            raise NotAMember from None
        data = {"loop_id": loop.id, "user_id": member_id, "removed_at": iso(removed_at)}
        return ok("Member removed from loop successfully", data)


def read_fresh(loop: Loop) -> Loop:
    """Reads the loop from the database again, with its members."""
    return Loop.objects.filter(pk=loop.pk, creator_id=loop.creator_id).with_members().get()
