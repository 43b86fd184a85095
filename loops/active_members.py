"""Defines "active member", in SQL and as a Q object. Only active members may review.

A person is an active member of a loop if they joined it, the loop is not deleted, and their account
is not deactivated.
"""

from django.db.models import Q

IS_ACTIVE = Q(status="active", loop__deleted_at__isnull=True, user__is_active=True)

# The same condition as a FROM item: m is the membership, l its loop, u the person.
ACTIVE_MEMBERS = """(
       loops_membership m
  JOIN loops_loop l ON l.id = m.loop_id AND l.deleted_at IS NULL
  JOIN accounts_user u ON u.id = m.user_id AND u.is_active AND m.status = 'active')"""
