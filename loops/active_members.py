"""Who may review: the one spelling of "active member", in SQL and as a Q object.

Somebody is an active member of a loop if they have joined it, nobody has deleted it, and the
operator has not deactivated their account.
"""

from django.db.models import Q

IS_ACTIVE = Q(status="active", loop__deleted_at__isnull=True, user__is_active=True)

# The same as a FROM item: m is the membership, l its loop, u the person.
ACTIVE_MEMBERS = """(
       loops_membership m
  JOIN loops_loop l ON l.id = m.loop_id AND l.deleted_at IS NULL
  JOIN accounts_user u ON u.id = m.user_id AND u.is_active AND m.status = 'active')"""
