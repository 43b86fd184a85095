"""Creates and changes loops and their members, each call in one transaction.

Deleting a loop and removing a member also change requests; they are in `reviews.services`.
"""

from typing import Any

from allauth.account.models import EmailAddress
from django.db import connection, transaction
from django.db.models.functions import Now

from accounts.audit import record
from accounts.confirmed import confirmed
from accounts.emails import fold_address, lock_address, match_email
from accounts.models import User
from accounts.services import reserve_user_id
from db.ids import owned_id, owned_id_sql
from loops.active_members import ACTIVE_MEMBERS
from loops.admission import check_admission
from loops.invite_codes import is_well_formed, new_code, normalize_code
from loops.models import Loop, Membership
from loops.retention import COLUMNS, describe_days


class InviteNotFound(Exception):
    """The code is unknown or replaced, or its loop is deleted."""


class AlreadyMember(Exception):
    """The invited address belongs to an active member of the loop."""


@transaction.atomic
def create_loop(
    *,
    owner_id: str,
    name: str,
    icon: str,
    description: str = "",
    loop_id: str | None = None,
    key_id: str | None = None,
    **rules: Any,
) -> Loop:
    """Creates a loop with its creator as the first active member.

    `rules` may set `require_verified`, `allowed_domains`, `comment_required_for`,
    `forbids_grants` and `policy`.
    Raises IntegrityError if the form with this token (`loop_id`) was submitted before.
    """
    loop = Loop(name=name, icon=icon, description=description, creator_id=owner_id, **rules)
    loop.id = loop_id or owned_id(owner_id)
    loop.save(force_insert=True)
    Membership(
        account_id=owner_id,
        loop=loop,
        member_id=owner_id,
        user_id=owner_id,
        status=Membership.Status.ACTIVE,
        joined_at=loop.created_at,
        invited_at=loop.created_at,
    ).save(force_insert=True)
    record(
        account_id=owner_id, actor_id=owner_id, action="loop.created", subject=name, key_id=key_id
    )
    return loop


@transaction.atomic
def update_loop(*, loop: Loop, changes: dict[str, Any], key_id: str | None = None) -> None:
    """Updates the loop's fields and `updated_at`. Raises Loop.DoesNotExist.

    Faces call that of `reviews.services`, which also ends standing grants.
    """
    write_loop(loop, changes)
    name = changes.get("name", loop.name)
    days = {column: changes[column] for column in COLUMNS if column in changes}
    if changes.keys() - days.keys():
        record_audit(loop, "loop.edited", name, key_id=key_id)
    if days:
        record_audit(loop, "loop.days_changed", f"{name}: {describe_days(days)}", key_id=key_id)


@transaction.atomic
def rotate_invite_code(*, loop: Loop) -> str:
    """Replaces the invite code; the old one stops working at once. Raises Loop.DoesNotExist."""
    code = new_code()
    write_loop(loop, {"invite_code": code})
    record_audit(loop, "loop.code_rotated", loop.name)
    return code


def write_loop(loop: Loop, changes: dict[str, Any]) -> None:
    """Updates columns of the loop and `updated_at`. Raises Loop.DoesNotExist."""
    rows = Loop.objects.of_creator(loop.creator_id).filter(pk=loop.pk)
    if not rows.update(**changes, updated_at=Now()):
        raise Loop.DoesNotExist


def record_audit(
    loop: Loop,
    action: str,
    subject: str,
    *,
    actor_id: str | None = None,
    key_id: str | None = None,
) -> None:
    """Adds an entry to the creator's audit log; the creator is the actor by default."""
    record(
        account_id=loop.creator_id,
        actor_id=actor_id or loop.creator_id,
        action=action,
        subject=subject,
        key_id=key_id,
    )


@transaction.atomic
def invite_member(*, loop: Loop, email: str) -> Membership:
    """Invites an address and returns its pending member, the same one if invited before.

    Raises AlreadyMember, Loop.DoesNotExist.
    """
    email = fold_address(email)
    lock_address(email)
    lock_loop(loop.pk, account_id=loop.creator_id)
    members = Membership.objects.filter(loop=loop, account_id=loop.creator_id)
    holders = User.objects.filter(match_email(email), confirmed(""))
    if members.active().filter(user__in=holders).exists():
        raise AlreadyMember
    pending = Membership.Status.PENDING
    # an earlier invitation may have shown another id
    known = members.filter(email=email, status=pending).first()
    if known is not None:
        return known
    membership = Membership.objects.create(
        account_id=loop.creator_id,
        loop=loop,
        member_id=reserve_user_id(email=email),
        email=email,
        status=pending,
    )
    touch(loop.pk, account_id=loop.creator_id)
    record_audit(loop, "member.invited", f"{email} to {loop.name}")
    return membership


def find_invite(code: str) -> Loop:
    """Finds the loop of a typed code and changes nothing. Raises InviteNotFound."""
    normalized = normalize_code(code)
    loop = None
    if is_well_formed(normalized):
        loop = Loop.objects.alive().select_related("creator").filter(invite_code=normalized).first()
    if loop is None:
        raise InviteNotFound
    return loop


_JOIN = f"""
INSERT INTO loops_membership (id, account_id, loop_id, member_id, user_id, email, status,
       invited_at, joined_at)
SELECT {owned_id_sql("creator_id")}, creator_id, id, %(user_id)s, %(user_id)s, '', 'active',
       statement_timestamp(), statement_timestamp()
  FROM loops_loop WHERE id = %(loop_id)s AND creator_id = %(account_id)s
ON CONFLICT ON CONSTRAINT member_once_per_loop DO UPDATE
   SET user_id = excluded.user_id, status = 'active', email = '',
       joined_at = coalesce(loops_membership.joined_at, excluded.joined_at)
RETURNING (SELECT count(*) FROM loops_membership old
            WHERE old.loop_id = loops_membership.loop_id
              AND old.member_id = %(user_id)s AND old.status = 'active')
"""  # noqa: S608 (nothing in it comes from outside)


@transaction.atomic
def join_loop(*, user: User, code: str) -> str:
    """Makes `user` an active member of the code's loop and returns the loop's id.

    Joining again changes nothing. Invitations to the user's other addresses pass to them if those
    addresses are confirmed. Raises InviteNotFound, admission.NotAdmitted.
    """
    rows = Loop.objects.alive().filter(invite_code=normalize_code(code))
    loop = rows.select_for_update(no_key=True).first()
    if loop is None:
        raise InviteNotFound
    check_admission(loop, user)
    keys = {"loop_id": loop.pk, "account_id": loop.creator_id, "user_id": user.pk}
    with connection.cursor() as cursor:
        cursor.execute(_JOIN, keys)
        (was_active,) = cursor.fetchone()
    if not was_active:
        addresses = EmailAddress.objects.filter(user=user, verified=True)
        inherit_invitations(loop, user, list(addresses.values_list("email", flat=True)))
        touch(loop.pk, account_id=loop.creator_id)
        record_audit(loop, "member.joined", loop.name, actor_id=user.pk)
    return str(loop.pk)


@transaction.atomic
def pass_invitations(*, user: User, address: str) -> None:
    """Passes the invitations to the address just confirmed, in loops where the person is a member.

    In other loops they pass when the person joins: until then, the inviter does not learn whether
    the address has an account. Invitations to a further address never pass here, because that would
    reveal that two addresses belong to one person.
    """
    if user.email != address:
        return
    invited = Membership.objects.filter(status=Membership.Status.PENDING, email=address)
    ids = list(invited.values_list("loop_id", flat=True))
    loops = Loop.objects.alive().filter(pk__in=ids).order_by("pk")
    for loop in loops.select_for_update(no_key=True):  # the person may be joining it
        members = Membership.objects.filter(loop=loop, account_id=loop.creator_id)
        if members.active().filter(user=user).exists():
            inherit_invitations(loop, user, [address])
            touch(loop.pk, account_id=loop.creator_id)


def inherit_invitations(loop: Loop, user: User, addresses: list[str]) -> None:
    """Adds the loop's pending invitations to these addresses to the user's membership.

    The ids that they showed still name the member. The loop is locked.
    """
    members = Membership.objects.filter(loop=loop, account_id=loop.creator_id)
    pending = members.filter(status=Membership.Status.PENDING, email__in=addresses)
    invited = list(pending.in_order())
    if not invited:
        return
    own = members.get(user=user)
    for row in invited:
        own.former_ids = [*own.former_ids, *row.former_ids, row.member_id]
        own.invited_at = min(own.invited_at, row.invited_at)
        row.delete()
    own.save(update_fields=["former_ids", "invited_at"])


def lock_loop(loop_id: str, *, account_id: str) -> None:
    """Locks the loop: nobody else joins, leaves or is invited until the transaction ends.

    Take this lock before any lock on a membership. Raises Loop.DoesNotExist.
    """
    loops = Loop.objects.of_creator(account_id)
    loops.select_for_update(no_key=True).only("id").get(pk=loop_id)


def hold_members(loop_id: str, *, account_id: str) -> None:
    """Keeps people from joining and leaving the loop until the transaction ends.

    It waits for whoever does so now. The next statement sees who is in the loop. Take this lock
    before any other one.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM loops_loop WHERE id = %s AND creator_id = %s FOR SHARE",
            [loop_id, account_id],
        )


def touch(loop_id: str, *, account_id: str) -> None:
    """Sets `updated_at` to now."""
    Loop.objects.filter(pk=loop_id, creator_id=account_id).update(updated_at=Now())


# Two CTEs for a statement that sends something to a loop: `reviewers` are the active members (id,
# email) but the person `but`, who may be null; `audience` is the loop's owner and policy, and the
# number of reviewers. It has no row if the loop is deleted. Its lock keeps others from deleting
# the loop until the transaction ends.
AUDIENCE = f"""reviewers AS MATERIALIZED (
    SELECT u.id, u.email FROM {ACTIVE_MEMBERS}
     WHERE m.loop_id = %(loop_id)s AND u.id IS DISTINCT FROM %(but)s::text
), audience AS (
    SELECT id AS loop_id, creator_id AS owner_id, policy AS loop_policy,
           (SELECT count(*) FROM reviewers) AS members
      FROM loops_loop WHERE id = %(loop_id)s AND deleted_at IS NULL FOR KEY SHARE
)"""  # noqa: S608 (nothing in it comes from outside)


def lock_membership(*, loop_id: str, account_id: str, user_id: str) -> bool:
    """Locks the user's active membership of the account's loop and returns whether there is one.

    Until the transaction ends, removing the member and deleting the loop have to wait.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT 1 FROM {ACTIVE_MEMBERS}"  # noqa: S608 (nothing in it comes from outside)
            " WHERE m.loop_id = %s AND m.account_id = %s AND m.user_id = %s"
            " FOR KEY SHARE OF m, l",
            [loop_id, account_id, user_id],
        )
        return cursor.fetchone() is not None
