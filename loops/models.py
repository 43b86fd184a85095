"""Models of loops and their members."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, Q, When
from django.db.models.functions import Lower, Now

from accounts.confirmed import confirmed
from db.columns import ExactJSONField, LookupField, bucket_constraint, owned_id_field
from loops.active_members import IS_ACTIVE
from loops.invite_codes import new_code
from loops.retention import MIN_DAYS


class LoopQuerySet(models.QuerySet["Loop"]):
    """Queries of loops. `of_creator` and `of_member` leave out deleted loops."""

    def alive(self) -> "LoopQuerySet":
        return self.filter(deleted_at__isnull=True)

    def of_creator(self, user_id: str) -> "LoopQuerySet":
        return self.alive().filter(creator_id=user_id)

    def of_member(self, user_id: str) -> "LoopQuerySet":
        """Keeps loops of which the user is an active member."""
        return self.filter(models.Exists(get_memberships(user_id)))

    def with_membership_of(self, user_id: str) -> "LoopQuerySet":
        """Adds `has_member`: whether the user is an active member."""
        columns: dict[str, Any] = {"has_member": models.Exists(get_memberships(user_id))}
        return self.annotate(**columns)

    def newest_first(self) -> "LoopQuerySet":
        return self.order_by("-created_at", "-id")

    def with_members(self) -> "LoopQuerySet":
        """Prefetches members with their users, in the order of invitation."""
        return self.prefetch_related(
            models.Prefetch("memberships", Membership.objects.with_people().in_order())
        )


class Loop(models.Model):
    """A named group of reviewers. A deleted loop keeps its row for its finished requests.

    `require_verified` and `allowed_domains` limit who may join (`loops.admission`). Answers that
    choose an option in `comment_required_for` need a comment (`loops.comment_rule`). With
    `forbids_grants` no reviewer allows calls for a while (`reviews.grants`). Finished
    requests and their texts are kept for so many days; None is as long as the service keeps them.
    """

    id = owned_id_field("creator_id")
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, blank=True)
    icon = models.CharField(max_length=100)
    creator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="loops", db_index=False
    )
    invite_code = LookupField(max_length=12, default=new_code)
    require_verified = models.BooleanField(default=True, db_default=True)
    allowed_domains = ArrayField(models.CharField(max_length=253), default=list, db_default=[])
    comment_required_for = ArrayField(models.CharField(max_length=200), default=list, db_default=[])
    forbids_grants = models.BooleanField(default=False, db_default=False)
    keep_requests_days = models.PositiveSmallIntegerField(null=True)
    keep_texts_days = models.PositiveSmallIntegerField(null=True)
    # of all requests to the loop (reviews.policy, with all its fields)
    policy = ExactJSONField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)

    objects: ClassVar[Any] = LoopQuerySet.as_manager()
    has_member: bool  # set by LoopQuerySet.with_membership_of()

    class Meta:
        constraints = [
            bucket_constraint("creator_id", name="loop_in_bucket"),
            models.UniqueConstraint(fields=["invite_code"], name="loop_invite_code_unique"),
            models.CheckConstraint(
                condition=(Q(keep_requests_days__isnull=True) | Q(keep_requests_days__gte=MIN_DAYS))
                & (Q(keep_texts_days__isnull=True) | Q(keep_texts_days__gte=MIN_DAYS)),
                name="loop_keeps_long_enough",
            ),
        ]
        indexes = [
            models.Index(
                fields=["creator", "-created_at", "-id"],
                condition=Q(deleted_at__isnull=True),
                name="loop_by_creator",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def spaced_code(self) -> str:
        """The invite code in groups of four, easy to read aloud."""
        return " ".join(self.invite_code[at : at + 4] for at in (0, 4, 8))

    @property
    def join_url(self) -> str:
        return f"{settings.SITE_URL}/join/{self.invite_code}"

    @property
    def qr_code_url(self) -> str:
        return f"{settings.SITE_URL}/qr/{self.invite_code}.png"


class MembershipQuerySet(models.QuerySet["Membership"]):
    """Queries of memberships."""

    def active(self) -> "MembershipQuerySet":
        return self.filter(IS_ACTIVE)

    def with_people(self) -> "MembershipQuerySet":
        """Joins the users and adds `verified`: whether they have confirmed their address."""
        columns: dict[str, Any] = {"verified": confirmed("user")}
        return self.select_related("user").annotate(**columns)

    def known_as(self, member_id: str) -> "MembershipQuerySet":
        """Selects the member with this id first, then those whose invitations had it.

        An address of a member may be invited again, with the same id.
        """
        is_own = Case(When(member_id=member_id, then=0), default=1)
        known = self.filter(Q(member_id=member_id) | Q(former_ids__contains=[member_id]))
        return known.order_by(is_own, "id")

    def in_order(self) -> "MembershipQuerySet":
        return self.order_by("invited_at", "id")


class Membership(models.Model):
    """A person in a loop: invited by e-mail address (pending), or joined (active).

    `account` is the creator of the loop. `member_id` is the user id that the API shows; `user` is
    null until the person joins. `former_ids` are the ids that invitations showed for a person
    whose account has another id.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        ACTIVE = "active"

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the loop has the foreign key
    )
    loop = models.ForeignKey(
        Loop, on_delete=models.PROTECT, related_name="memberships", db_index=False
    )
    member_id = models.CharField(max_length=24)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="memberships"
    )
    email = models.EmailField(max_length=254, blank=True)
    status = models.CharField(max_length=7, choices=Status)
    invited_at = models.DateTimeField(db_default=Now(), editable=False)
    joined_at = models.DateTimeField(null=True)
    former_ids = ArrayField(models.CharField(max_length=24), default=list, db_default=[])

    verified: bool  # set by MembershipQuerySet.with_people()
    objects: ClassVar[Any] = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            bucket_constraint("account_id", name="membership_in_bucket"),
            models.UniqueConstraint(fields=["loop", "member_id"], name="member_once_per_loop"),
            models.UniqueConstraint(
                "loop", Lower("email"), condition=Q(status="pending"), name="invited_once_per_loop"
            ),
            models.CheckConstraint(
                condition=Q(status="active", user_id=models.F("member_id"), joined_at__isnull=False)
                | Q(status="pending", user__isnull=True, joined_at__isnull=True) & ~Q(email=""),
                name="member_active_or_pending",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "loop"], condition=Q(status="active"), name="active_in"),
            models.Index(fields=["email"], condition=Q(status="pending"), name="invited_by_email"),
        ]

    def __str__(self) -> str:
        return f"{self.address} ({self.status})"

    @property
    def address(self) -> str:
        """The person's e-mail address."""
        return self.user.email if self.user else self.email


def get_memberships(user_id: str) -> MembershipQuerySet:
    """Returns the user's active membership of the outer loop, for a sub-query of loops."""
    memberships: MembershipQuerySet = Membership.objects.active().filter(
        loop_id=models.OuterRef("pk"), user_id=user_id
    )
    return memberships
