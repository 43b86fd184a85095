from django.db import migrations


class Migration(migrations.Migration):
    """Deletes all sessions, whose keys were stored in the clear. Everybody signs in again."""

    dependencies = [
        ("accounts", "0002_audit_and_usage"),
        ("sessions", "0001_initial"),
        ("usersessions", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(
            "DELETE FROM django_session; DELETE FROM usersessions_usersession;",
            migrations.RunSQL.noop,
        ),
    ]
