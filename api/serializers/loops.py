"""Serializers of loops and members (specification, Loop and Member)."""

from rest_framework import serializers

from api.errors import LoopIconRequired, LoopNameRequired
from api.fields import Identifier, Input, StrictChoice, StrictText, Timestamp
from loops.icons import ICONS
from loops.models import Loop, Membership


class LoopInput(Input):
    """The body of POST /api/loops."""

    sentences = {"name": LoopNameRequired, "icon": LoopIconRequired}

    name = StrictText(shortest=1, longest=100)
    description = StrictText(longest=500, required=False)
    icon = StrictText(shortest=1, longest=100)


class LoopChanges(Input):
    """The body of PUT /api/loops/{id}."""

    name = StrictText(shortest=1, longest=100, required=False)
    description = StrictText(longest=500, required=False)
    icon = StrictChoice(choices=ICONS, required=False)


class MemberSerializer(serializers.Serializer[Membership]):
    """A member of a loop, active or pending."""

    user_id = Identifier(source="member_id")
    email = serializers.EmailField(source="address")
    status = serializers.ChoiceField(choices=Membership.Status.choices)
    joined_at = Timestamp(allow_null=True)


class LoopSerializer(serializers.Serializer[Loop]):
    """A loop with all its members."""

    id = Identifier()
    name = serializers.CharField()
    description = serializers.CharField()
    icon = serializers.CharField()
    creator_id = Identifier()
    members = MemberSerializer(many=True, source="memberships.all")
    member_count = serializers.SerializerMethodField()
    pending_count = serializers.SerializerMethodField()
    created_at = Timestamp()
    updated_at = Timestamp()

    def get_member_count(self, loop: Loop) -> int:
        return len(loop.memberships.all())

    def get_pending_count(self, loop: Loop) -> int:
        pending = Membership.Status.PENDING
        return sum(member.status == pending for member in loop.memberships.all())


class OwnLoopSerializer(LoopSerializer):
    """A loop in a single read, with what its creator gives to people who should join."""

    invite_code = serializers.CharField()
    join_url = serializers.CharField()
    qr_code_url = serializers.CharField()
