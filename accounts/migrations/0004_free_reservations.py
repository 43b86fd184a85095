"""Ends the reservations of ids that accounts already have; accounts now do so when they begin."""

from django.db import migrations

END = """
DELETE FROM accounts_reservedid r USING accounts_user u WHERE u.id = r.user_id;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_end_plain_sessions")]
    operations = [migrations.RunSQL(END, migrations.RunSQL.noop)]
