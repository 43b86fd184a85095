"""One place decides who may review, and all code uses it."""

import re
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.models import F

from accounts.models import User
from loops.active_members import ACTIVE_MEMBERS
from loops.models import Loop, Membership
from loops.services import lock_membership
from reviews import services
from reviews.models import Request
from tests.reviews.conftest import FIELDS, acting

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    *("accounts", "webhooks", "mailing", "loops", "reviews"),
    *("api", "portal", "dashboard", "signin"),
)
SPELLINGS = re.compile(
    r"m\.status = 'active'|filter\([^)]*status=(?:\"active\"|\w*\.?Status\.ACTIVE)"
)
# Numbers of members, by status: people whose account is deactivated remain members.
COUNTED = {"dashboard/loop_stats.py"}

pytestmark = pytest.mark.django_db


def by_sql() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT m.id FROM {ACTIVE_MEMBERS}")
        return {found for (found,) in cursor.fetchall()}


def test_it_is_spelled_in_one_place() -> None:
    spelled = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if "migrations" not in path.parts and SPELLINGS.search(path.read_text(encoding="utf-8"))
    }
    assert spelled - COUNTED == {"loops/active_members.py"}


@pytest.mark.parametrize("end", ["pending", "deleted", "deactivated"])
def test_sql_and_q_agree_on_who_is_none(loop: Loop, owner: User, member: User, end: str) -> None:
    before = by_sql()
    assert before == set(Membership.objects.active().values_list("pk", flat=True))
    theirs = Membership.objects.get(loop=loop, user=member)
    assert theirs.pk in before
    if end == "pending":
        Membership.objects.filter(pk=theirs.pk).update(
            status="pending", user=None, joined_at=None, email="a@example.org"
        )
    elif end == "deleted":
        Loop.objects.filter(pk=loop.pk).update(deleted_at=F("created_at"))
    else:
        User.objects.filter(pk=member.pk).update(is_active=False)
    assert theirs.pk not in by_sql()
    assert by_sql() == set(Membership.objects.active().values_list("pk", flat=True))
    with transaction.atomic():
        assert not lock_membership(loop_id=loop.pk, account_id=loop.creator_id, user_id=member.pk)
    assert not Loop.objects.of_member(member.pk).exists()


def test_whoever_is_deactivated_receives_nothing(loop: Loop, owner: User, member: User) -> None:
    def ask() -> Request:
        return services.create_request(loop_id=loop.pk, account=acting(owner), fields=FIELDS)

    everybody = ask().broadcasted_to
    User.objects.filter(pk=member.pk).update(is_active=False)
    request = ask()
    assert request.broadcasted_to == everybody - 1
    assert not Request.objects.reviewable_by(member.pk).exists()
    with pytest.raises(services.NotAReviewer):
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
