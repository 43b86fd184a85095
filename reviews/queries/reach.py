"""Reads whom a request reached: who was notified, how and when, and who opened it."""

from dataclasses import dataclass, fields
from datetime import datetime

from django.db import connection

from loops.active_members import ACTIVE_MEMBERS
from reviews.models import Request
from reviews.notifications.retention import KEPT_DAYS
from webhooks.failure_texts import NOT_NEEDED

MAX_REVIEWERS = 50

# r is the request, `ended` the time of its end. People who joined later are not its reviewers; of a
# request with a policy, whoever may answer it is. While a policy hides the answers, a notification
# that was not sent because its person has answered shows as sent: nobody may learn who has.
_REACH = f"""
WITH r AS (
    SELECT id, loop_id, created_at, eligible,
           CASE status WHEN 'completed' THEN response_at WHEN 'timeout' THEN timeout_at
                       WHEN 'cancelled' THEN updated_at END AS ended,
           status IN ('pending', 'claimed') AND policy->>'blind' = 'true' AS hides_answers
      FROM reviews_request WHERE id = %(request)s AND creator_id = %(account)s
), notified AS (
    SELECT n.recipient_id AS person,
           count(*) FILTER (WHERE n.channel = 'push') AS devices,
           count(*) FILTER (WHERE n.channel = 'push' AND is_sent) AS pushes,
           min(n.done_at) FILTER (WHERE n.channel = 'push' AND is_sent) AS pushed_at,
           min(n.done_at) FILTER (WHERE n.channel = 'mail' AND is_sent) AS mailed_at,
           bool_or(n.state = 'waiting') AS is_waiting,
           coalesce(max(n.error) FILTER (
               WHERE n.state = 'dropped' AND n.error <> %(stale)s), '') AS error
      FROM r CROSS JOIN LATERAL (  -- each channel has an index of its own
           SELECT * FROM reviews_notification WHERE request_id = r.id AND channel = 'push'
           UNION ALL
           SELECT * FROM reviews_notification WHERE request_id = r.id AND channel = 'mail') AS n
      CROSS JOIN LATERAL (
           SELECT n.state = 'sent' OR n.state = 'dropped' AND n.error = %(stale)s AND hides_answers
                  AND EXISTS (SELECT FROM reviews_answer a WHERE a.request_id = r.id
                                 AND a.person_id = n.recipient_id) AS is_sent) AS shown
     GROUP BY n.recipient_id
), member AS (
    SELECT m.user_id AS person, m.joined_at
      FROM {ACTIVE_MEMBERS} JOIN r ON r.loop_id = m.loop_id
     WHERE (r.ended IS NULL OR m.joined_at < r.ended)
       AND (r.eligible IS NULL OR m.user_id::text = ANY (r.eligible))
), viewer AS (
    SELECT v.person_id AS person, v.opened_at, v.skipped_at, v.claimed_at
      FROM reviews_viewer v JOIN r ON r.id = v.request_id
), reviewer AS (
    SELECT u.name, u.email, member.joined_at,
           coalesce(member.joined_at > r.created_at, false) AS is_late,
           coalesce(notified.devices, 0) AS devices, coalesce(notified.pushes, 0) AS pushes,
           notified.pushed_at, notified.mailed_at,
           coalesce(notified.is_waiting, false) AS is_waiting,
           coalesce(notified.error, '') AS error,
           viewer.opened_at, viewer.skipped_at, viewer.claimed_at
      FROM member FULL JOIN notified USING (person) FULL JOIN viewer USING (person)
      JOIN accounts_user u ON u.id = person CROSS JOIN r
)
SELECT reviewer.*, count(*) OVER (),
       count(*) FILTER (WHERE devices = 0 AND NOT is_late) OVER (),
       count(*) FILTER (WHERE pushes > 0 OR mailed_at IS NOT NULL) OVER (),
       count(*) FILTER (WHERE mailed_at IS NOT NULL) OVER (),
       count(opened_at) OVER (), count(skipped_at) OVER (), count(claimed_at) OVER (),
       statement_timestamp() < coalesce(r.ended, 'infinity')
           + make_interval(days => {KEPT_DAYS:d})
  FROM reviewer CROSS JOIN r
 ORDER BY claimed_at DESC NULLS LAST, opened_at NULLS LAST, devices, lower(name), email
 LIMIT {MAX_REVIEWERS:d}
"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The history of a request with one person. Times are None for events that did not happen.

    `devices` counts the devices to notify, `pushes` the pushes sent. `is_waiting`: a notification
    still waits. `error` is that of a failed notification. `is_late`: they joined after the request
    was created and were not notified.
    """

    name: str
    email: str
    joined_at: datetime | None
    is_late: bool
    devices: int
    pushes: int
    pushed_at: datetime | None
    mailed_at: datetime | None
    is_waiting: bool
    error: str
    opened_at: datetime | None
    skipped_at: datetime | None
    claimed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Reach:
    """Whom a request reached: the first MAX_REVIEWERS people, and counts of all.

    `is_recorded`: notifications of this request have not been deleted yet.
    """

    reviewers: list[Reviewer]
    total: int = 0
    without_device: int = 0
    notified: int = 0
    mailed: int = 0
    opened: int = 0
    skipped: int = 0
    claimed: int = 0
    is_recorded: bool = True


def read_reach(request: Request) -> Reach:
    """Reads whom the request reached, in one statement."""
    params = {"request": request.pk, "account": request.creator_id, "stale": str(NOT_NEEDED)}
    with connection.cursor() as cursor:
        cursor.execute(_REACH, params)
        rows = cursor.fetchall()
    width = len(fields(Reviewer))
    counts = rows[0][width:] if rows else ()
    return Reach([Reviewer(*row[:width]) for row in rows], *counts)
