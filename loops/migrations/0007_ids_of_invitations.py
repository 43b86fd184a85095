"""Gives invitations the id of their address in place of the id of an account."""

from django.db import migrations

from db.operations import FillInBatches

_OF_ACCOUNTS = """
  FROM loops_membership m JOIN accounts_user u ON u.id = m.member_id
 WHERE m.status = 'pending'
"""
# The account was made with the id that the invitation had reserved: the address keeps it.
KEEP = f"""
INSERT INTO accounts_reservedid (user_id, email)
SELECT m.member_id, m.email {_OF_ACCOUNTS} AND u.created_at > m.invited_at AND m.former_ids = '{{}}'
   AND NOT EXISTS (SELECT FROM accounts_reservedid r
                    WHERE r.email = m.email OR r.user_id = m.member_id)
 LIMIT 2000
ON CONFLICT DO NOTHING
"""  # noqa: S608 (nothing in it comes from outside)
_SHOWN = f"{_OF_ACCOUNTS} AND NOT EXISTS (SELECT FROM accounts_reservedid r WHERE r.user_id = u.id)"
RESERVE = f"""
INSERT INTO accounts_reservedid (user_id, email)
SELECT lpad(to_hex((extract(epoch FROM statement_timestamp()) * 1000)::bigint), 12, '0')
       || left(replace(gen_random_uuid()::text, '-', ''), 12), email
  FROM (SELECT DISTINCT m.email {_SHOWN}
           AND NOT EXISTS (SELECT FROM accounts_reservedid r WHERE r.email = m.email)
         LIMIT 2000) missing
ON CONFLICT DO NOTHING
"""  # noqa: S608
REPLACE = f"""
UPDATE loops_membership m
   SET member_id = r.user_id, former_ids = m.former_ids || m.member_id
  FROM accounts_reservedid r
 WHERE r.email = m.email AND m.id IN (SELECT m.id {_SHOWN} LIMIT 2000)
"""  # noqa: S608


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("loops", "0006_one_form_of_domains"),
        ("accounts", "0010_one_form_of_domains"),
    ]
    operations = [FillInBatches(statement) for statement in (KEEP, RESERVE, REPLACE)]
