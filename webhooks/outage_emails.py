"""Emails an account when one of its hosts fails, and when it has recovered: once per outage.

What was said is stored in `FailingHost`, in the transaction that queues the email. So a crash in
between undoes both, and two workers never say the same: one at a time looks at an account.

An account gets one email for all hosts that are due, and then none of that kind for ACCOUNT_PAUSE.
A host that fails and recovers again and again is mentioned once in HOST_PAUSE.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from smtplib import SMTPException
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.sign_in_codes import can_send
from accounts.time_zones import find_zone
from web.bidi import isolate
from web.humanize import format_count, format_long_moment
from web.languages import known_or_english, translate
from web.sanitize import to_one_line
from webhooks import safe_text
from webhooks.failing_hosts import FORGOTTEN, MAX_COUNTED, WAITING

LASTING = 60  # seconds that a host has to fail, because a restart is no outage
STEADY = 120  # seconds without a failure, after which a host has recovered
ACCOUNT_PAUSE = 600  # seconds between two emails of one kind to an account
HOST_PAUSE = 3600  # seconds between two emails about outages of a host
MAX_ACCOUNTS, MAX_HOSTS, MAX_NAMED = 100, 1000, 10
_ONE_AT_A_TIME = 0x4F757467  # of this database's advisory locks
log = structlog.get_logger(__name__)

_FAILS = f"""
    f.recovered_at IS NULL AND f.told_at IS NULL AND f.failures >= %(failures)s
    AND f.failing_since <= statement_timestamp() - make_interval(secs => {LASTING})
    AND (f.emailed_at IS NULL
         OR f.emailed_at <= statement_timestamp() - make_interval(secs => {HOST_PAUSE}))
    AND NOT EXISTS (SELECT FROM webhooks_failinghost AS said
         WHERE said.account_id = f.account_id
           AND said.told_at > statement_timestamp() - make_interval(secs => {ACCOUNT_PAUSE}))
"""
_RECOVERED = f"""
    f.recovered_at <= statement_timestamp() - make_interval(secs => {STEADY})
    AND f.told_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM webhooks_failinghost AS said
         WHERE said.account_id = f.account_id AND said.told_at IS NULL
           AND said.emailed_at > statement_timestamp() - make_interval(secs => {ACCOUNT_PAUSE}))
"""
_FIND = f"""
SELECT account_id FROM webhooks_failinghost AS f WHERE {_FAILS}
 UNION SELECT account_id FROM webhooks_failinghost AS f WHERE {_RECOVERED}
 LIMIT {MAX_ACCOUNTS}
"""  # noqa: S608
_TAKE = f"""
SELECT host, failures, failing_since, recovered_at, last_status, last_error, {WAITING}
  FROM webhooks_failinghost AS f WHERE account_id = %(account)s AND {{which}}
 ORDER BY failing_since, host LIMIT {MAX_HOSTS} FOR UPDATE OF f
"""  # noqa: S608
_TELL = """
UPDATE webhooks_failinghost
   SET told_at = CASE WHEN recovered_at IS NULL THEN statement_timestamp() END,
       emailed_at = statement_timestamp()
 WHERE account_id = %(account)s AND host = ANY (%(hosts)s)
"""
_FORGET = f"""
DELETE FROM webhooks_failinghost AS f
 WHERE f.recovered_at IS NOT NULL AND f.told_at IS NULL
   AND (f.emailed_at IS NULL
        OR f.emailed_at <= statement_timestamp() - make_interval(secs => {HOST_PAUSE}))
    OR f.recovered_at <= statement_timestamp() - interval '{FORGOTTEN} hours'
    OR f.recovered_at IS NULL
   AND f.last_failed_at <= statement_timestamp() - interval '{FORGOTTEN} hours'
   AND NOT EXISTS (SELECT FROM webhooks_delivery AS d
        WHERE d.account_id = f.account_id AND d.host = f.host AND d.state = 'waiting')
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Outage:
    """A host that an email mentions, as it stands when the email is written."""

    host: str
    failures: int
    since: datetime
    recovered_at: datetime | None
    status: int | None
    error: str
    waiting: int

    @property
    def name(self) -> str:
        return to_one_line(safe_text.visible(self.host))

    @property
    def result(self) -> str:
        return to_one_line(translate(safe_text.format_result(self.status, self.error)))

    @property
    def more_waiting(self) -> str:
        """How many deliveries wait, in words."""
        return (
            f"{format_count(MAX_COUNTED)}+"
            if self.waiting > MAX_COUNTED
            else format_count(self.waiting)
        )


def email_outages() -> int:
    """Queues the emails that are due, and returns how many accounts got one."""
    if not settings.WEBHOOK_FAILURES_BEFORE_EMAIL or not can_send():
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_FIND, {"failures": settings.WEBHOOK_FAILURES_BEFORE_EMAIL})
        accounts = [account_id for (account_id,) in cursor.fetchall()]
    return sum(try_account(account_id) for account_id in accounts)


def try_account(account_id: str) -> bool:
    """Emails an account; what cannot be queued now is tried again by the next sweep."""
    try:
        return email_account(account_id)
    except (OSError, SMTPException, ValueError) as error:
        log.error("mail.failed", template="webhooks/email", error=str(error))
        return False


@transaction.atomic
def email_account(account_id: str) -> bool:
    """Queues the emails that are due to an account; False if another worker does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_ONE_AT_A_TIME])
        if cursor.fetchone() != (True,):
            return False
    account = User.objects.get(pk=account_id)
    notified = [notify(account, which) for which in ("failing", "recovered")]
    return any(notified)


def forget_hosts() -> None:
    """Deletes what is over, and hosts to which nothing has been sent for a day."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET)


def notify(account: User, which: str) -> bool:
    """Queues one email about all hosts that are due, and stores that it did."""
    found = take(account.pk, _FAILS if which == "failing" else _RECOVERED)
    if not found:
        return False
    for email in compose(account, which, found):
        email.send()
    with connection.cursor() as cursor:
        cursor.execute(_TELL, {"account": account.pk, "hosts": [each.host for each in found]})
    return True


def take(account_id: str, which: str) -> list[Outage]:
    """Locks and reads the account's hosts that an email is due about."""
    params: dict[str, Any] = {
        "account": account_id,
        "failures": settings.WEBHOOK_FAILURES_BEFORE_EMAIL,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAKE.format(which=which), params)
        return [Outage(*row) for row in cursor.fetchall()]


def compose(account: User, which: str, found: Sequence[Outage]) -> list[EmailMessage]:
    """Builds the same email for each confirmed address of the account, in its language."""
    zone = find_zone(account.time_zone)
    with translation.override(known_or_english(account.preferred_language)):
        context = {
            "outages": [describe(each, zone) for each in found[:MAX_NAMED]],
            "others": len(found) - len(found[:MAX_NAMED]),
            "site_url": settings.SITE_URL,
        }
        body = render_to_string(f"webhooks/email/{which}.txt", context)
        subject = f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{build_subject(which, found)}"
    confirmed = EmailAddress.objects.filter(user_id=account.pk, verified=True).order_by("pk")
    addresses = confirmed.values_list("email", flat=True)
    return [EmailMessage(subject, body, to=[address]) for address in addresses]


def build_subject(which: str, found: Sequence[Outage]) -> str:
    """Names the only host, or says how many there are."""
    where = isolate(found[0].name)
    if len(found) > 1:
        where = _("%(count)s hosts") % {"count": format_count(len(found))}
    if which == "failing":
        return _("Webhooks to %(where)s are failing") % {"where": where}
    return _("Webhooks to %(where)s are being delivered again") % {"where": where}


def describe(outage: Outage, zone: ZoneInfo) -> dict[str, Any]:
    """Returns what an email says of a host."""
    recovered_at = outage.recovered_at
    return {
        "name": outage.name,
        "failures": outage.failures,
        "result": outage.result,
        "more_waiting": outage.more_waiting,
        "since_text": format_long_moment(outage.since.astimezone(zone)),
        "until_text": recovered_at and format_long_moment(recovered_at.astimezone(zone)),
    }
