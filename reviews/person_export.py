"""Writes a person's data as one JSON object, in parts of bounded size.

The object has the account with its addresses, browsers and devices; the loops, requests and
receipts that it owns; the person's answers in other accounts' loops; and its keys, webhook
endpoints, review tokens, usage and audit log. It has no passwords, keys or secrets.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, Q, Sum
from django.db.models.functions import TruncDay

from accounts.models import ApiKey, AuditEntry, ReviewToken, Usage, User, WebhookEndpoint
from loops.models import Loop, Membership
from reviews import sizes
from reviews.lifecycle.settling import scope_to_account, settle_unlocked
from reviews.models import (
    Answer,
    EmailPreference,
    Grant,
    PushSubscription,
    Receipt,
    Request,
    Viewer,
)
from reviews.queries.single_read import read_many_as_json

PAGE = 200  # rows that are read at a time,
LARGE = 20  # of those of up to 256 KiB each
Read = Callable[[User], Iterator[str]]

PROFILE = (
    "id", "email", "name", "created_at", "last_login", "time_zone", "language",
    "browser_language", "is_active", "hourly_limit",
)  # fmt: skip


def export(person: User) -> Iterator[str]:
    """Yields the parts of the JSON in their order."""
    profile = User.objects.filter(pk=person.pk).values(*PROFILE).get()
    yield '{"account": ' + dump(profile)
    for name, read in SECTIONS.items():
        yield f',\n"{name}": ['
        separator = "\n"
        for entry in read(person):
            yield separator + entry
            separator = ",\n"
        yield "]"
    yield "}\n"


def dump(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


def read_rows(
    rows: Any,
    *columns: str,
    key: str = "pk",
    names: Mapping[str, str] = {},
    count: int = PAGE,
    **named: Any,
) -> Iterator[str]:
    """Returns rows in the order of their unique `key`, `count` at a time.

    `names` has the names of columns that are shown under another one.
    """
    last = None
    ordered = rows.order_by(key).values(*columns, place=F(key), **named)
    while True:
        following = ordered if last is None else ordered.filter(**{f"{key}__gt": last})
        page = list(following[:count])
        for row in page:
            last = row.pop("place")
            yield dump({names.get(name, name): value for name, value in row.items()})
        if len(page) < count:
            return


def read_requests(person: User) -> Iterator[str]:
    """Returns the requests of the account as GET /api/requests/{id} does, the oldest first."""
    settle_unlocked(scope_to_account(person.pk))
    last = ""
    while True:
        own = Request.objects.created_by(person.pk).filter(pk__gt=last).order_by("pk")
        ids = list(own.values_list("pk", flat=True)[:PAGE])
        for part in sizes.split(ids):
            yield from read_many_as_json(part, user_id=person.pk)
        if len(ids) < PAGE:
            return
        last = ids[-1]


_ANSWER = {
    "request_id": "id",
    "data": "response_data",
    "comment": "response_comment",
    "answered_at": "response_at",
}


def read_answers(person: User) -> Iterator[str]:
    """Returns the person's answers, also in loops that they have left."""
    return read_rows(
        Answer.objects.filter(person=person),
        *_ANSWER,
        key="request_id",
        names=_ANSWER,
        count=LARGE,
        loop_name=F("loop__name"),
    )


def read_usage(person: User) -> Iterator[str]:
    """Returns the calls of each key by UTC days, independent of the time zone of the page."""
    days = Usage.objects.filter(key__user=person).annotate(day=TruncDay("hour", tzinfo=UTC))
    counted = days.order_by("day").values("day", "key_id").annotate(calls=Sum("calls"))
    return map(dump, counted)


SECTIONS: dict[str, Read] = {
    "email_addresses": lambda person: read_rows(
        EmailAddress.objects.filter(user=person), "email", "verified", "primary"
    ),
    "second_factors": lambda person: read_rows(
        Authenticator.objects.filter(user=person), "type", "created_at", "last_used_at"
    ),
    "browsers": lambda person: read_rows(
        UserSession.objects.filter(user=person), "ip", "user_agent", "created_at", "last_seen_at"
    ),
    "devices": lambda person: read_rows(
        PushSubscription.objects.filter(user=person),
        *("label", "host", "is_on", "created_at", "last_used_at"),
    ),
    "email_preference": lambda person: read_rows(
        EmailPreference.objects.filter(user=person), "mails"
    ),
    "memberships": lambda person: read_rows(
        Membership.objects.filter(Q(user=person) | Q(member_id=person.pk)),
        *("loop_id", "status", "invited_at", "joined_at"),
        loop_name=F("loop__name"),
    ),
    "answers": read_answers,
    "opened_requests": lambda person: read_rows(
        Viewer.objects.filter(person=person),
        *("request_id", "opened_at", "skipped_at", "claimed_at"),
        key="request_id",
    ),
    "loops": lambda person: read_rows(
        Loop.objects.filter(creator=person),
        *("id", "name", "description", "icon", "created_at", "updated_at", "deleted_at"),
    ),
    "requests": read_requests,
    "receipts": lambda person: read_rows(
        Receipt.objects.filter(account=person),
        *("request_id", "token", "expires_at", "redeemed_at"),
        key="request_id",
    ),
    "keys": lambda person: read_rows(
        ApiKey.objects.of_account(person.pk),
        *("id", "name", "prefix", "last_four", "permissions", "state", "created_at", "expires_at"),
    ),
    "webhook_endpoints": lambda person: read_rows(
        WebhookEndpoint.objects.of_account(person.pk),
        *("id", "url", "events", "loop_ids", "is_on", "created_at", "updated_at"),
    ),
    "review_tokens": lambda person: read_rows(
        ReviewToken.objects.filter(user=person),
        *("id", "name", "last_four", "created_at", "expires_at", "last_used_at", "revoked_at"),
    ),
    "grants": lambda person: read_rows(
        Grant.objects.filter(Q(account=person) | Q(person=person)),
        *("id", "loop_id", "person_id", "request_id", "call", "names", "uses", "max_uses"),
        *("created_at", "expires_at", "revoked_at"),
    ),
    "usage": read_usage,
    "audit": lambda person: read_rows(
        AuditEntry.objects.filter(Q(account=person) | Q(actor=person)),
        *("account_id", "actor_id", "action", "subject", "ip", "created_at"),
    ),
}
