"""SQL that says who may be notified of a request, and until when."""

from accounts.confirmed import CONFIRMED_SQL
from loops.active_members import ACTIVE_MEMBERS
from reviews.lifecycle.conditions import OPEN, in_time

# Whether a person may get an email about a request: u is the person, `priority` the request's.
MAY_MAIL = f"""
    {CONFIRMED_SQL.format(user="u")}
    AND coalesce((SELECT c.mails FROM reviews_emailpreference c WHERE c.user_id = u.id), 'every')
        = ANY (CASE priority WHEN 'critical' THEN ARRAY['every', 'critical']
                             ELSE ARRAY['every'] END)
"""  # noqa: S608
# Whether they get one first; a person with a device gets a push.
BY_MAIL = f"""
    NOT EXISTS (SELECT 1 FROM reviews_pushsubscription d
                 WHERE d.user_id = u.id AND d.is_on AND %(push)s::boolean)
    AND {MAY_MAIL}
"""  # noqa: S608

# The language of the person.
LANGUAGE = "coalesce(nullif(u.language, ''), u.browser_language)"
# Whether the person has answered the open request: n is the notification, r its request.
HAS_ANSWERED = f"""
    {OPEN} AND EXISTS (SELECT 1 FROM reviews_answer a
                        WHERE a.request_id = r.id AND a.person_id = n.recipient_id)
"""  # noqa: S608
# Whether a notification is still wanted.
WANTED = f"""
    {OPEN} AND {in_time()} AND NOT ({HAS_ANSWERED})
    AND EXISTS (SELECT 1 FROM {ACTIVE_MEMBERS}
                 WHERE m.loop_id = r.loop_id AND m.user_id = n.recipient_id)
"""  # noqa: S608
