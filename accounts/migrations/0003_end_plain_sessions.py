from django.db import migrations


class Migration(migrations.Migration):
    """Sessions from before had their keys in the clear; everybody signs in once more."""

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
