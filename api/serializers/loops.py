"""Serializers of loops and members (docs/contract.md, `loop` and `member`)."""

from typing import Any

from rest_framework import serializers

from api.errors import LoopIconRequired, LoopNameRequired
from api.fields import (
    Identifier,
    Input,
    InvalidValue,
    JsonObject,
    StrictBoolean,
    StrictChoice,
    StrictStrings,
    StrictText,
    Timestamp,
)
from api.serializers.policies import StoredPolicy
from loops.admission import MAX_DOMAINS, InvalidDomain, clean_domains
from loops.comment_rule import MAX_LENGTH, MAX_OPTIONS, InvalidOptions, clean_options
from loops.icons import ICONS
from loops.models import Loop, Membership
from reviews.policy import InvalidPolicy, Policy
from reviews.response_types.policies import parse_for_loop

_POLICY = "Of all requests to the loop, which then have none of their own; {} for none."


class Domains(StrictStrings):
    """The domains of addresses, stored in lowercase and sorted."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        try:
            return clean_domains(super().run_validation(data))
        except InvalidDomain:
            raise serializers.ValidationError(
                f"must be an array of at most {MAX_DOMAINS} domains, such as example.com"
            ) from None


class Options(StrictStrings):
    """Options of requests, by value or label."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        try:
            return clean_options(super().run_validation(data))
        except InvalidOptions:
            raise serializers.ValidationError(
                f"must be an array of at most {MAX_OPTIONS} options of 1 to {MAX_LENGTH} characters"
            ) from None


class LoopPolicy(JsonObject):
    """The policy of all requests of a loop; {} takes it away."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        try:
            policy = parse_for_loop(super().run_validation(data))
        except InvalidPolicy as error:
            raise InvalidValue(str(error)) from None
        return None if policy == Policy() else policy.store()


class LoopInput(Input):
    """The body of POST /api/loops."""

    sentences = {"name": LoopNameRequired, "icon": LoopIconRequired}

    name = StrictText(shortest=1, longest=100)
    description = StrictText(longest=500, required=False)
    icon = StrictText(shortest=1, longest=100)
    require_verified = StrictBoolean(required=False)
    allowed_domains = Domains(required=False)
    comment_required_for = Options(required=False)
    forbids_grants = StrictBoolean(required=False)
    policy = LoopPolicy(required=False, help_text=_POLICY)


class LoopChanges(Input):
    """The body of PUT /api/loops/{id}."""

    name = StrictText(shortest=1, longest=100, required=False)
    description = StrictText(longest=500, required=False)
    icon = StrictChoice(choices=ICONS, required=False)
    require_verified = StrictBoolean(required=False)
    allowed_domains = Domains(required=False)
    comment_required_for = Options(required=False)
    forbids_grants = StrictBoolean(required=False)
    policy = LoopPolicy(required=False, help_text=_POLICY)


class MemberSerializer(serializers.Serializer[Membership]):
    """A member of a loop, active or pending."""

    user_id = Identifier(source="member_id")
    email = serializers.EmailField(source="address")
    status = serializers.ChoiceField(choices=Membership.Status.choices)
    joined_at = Timestamp(allow_null=True)
    verified = serializers.BooleanField()


class LoopSerializer(serializers.Serializer[Loop]):
    """A loop with all its members. The `optional` fields are left out at their defaults."""

    optional = (
        "require_verified",
        "allowed_domains",
        "comment_required_for",
        "forbids_grants",
        "policy",
    )

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
    require_verified = serializers.BooleanField(required=False)
    allowed_domains = serializers.ListField(child=serializers.CharField(), required=False)
    comment_required_for = serializers.ListField(child=serializers.CharField(), required=False)
    forbids_grants = serializers.BooleanField(required=False)
    policy = StoredPolicy(required=False)

    def to_representation(self, instance: Loop) -> dict[str, Any]:
        data: dict[str, Any] = super().to_representation(instance)
        if instance.require_verified:
            del data["require_verified"]
        for name in ("allowed_domains", "comment_required_for", "forbids_grants", "policy"):
            if not data[name]:
                del data[name]
        return data

    def get_member_count(self, loop: Loop) -> int:
        return len(loop.memberships.all())

    def get_pending_count(self, loop: Loop) -> int:
        pending = Membership.Status.PENDING
        return sum(member.status == pending for member in loop.memberships.all())


class OwnLoopSerializer(LoopSerializer):
    """A loop in a single read, with the invitation that its creator gives to people."""

    invite_code = serializers.CharField()
    join_url = serializers.CharField()
    qr_code_url = serializers.CharField()
