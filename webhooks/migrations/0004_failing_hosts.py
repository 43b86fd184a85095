import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0003_newest_first_and_tests"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="FailingHost",
            fields=[
                ("pk", models.CompositePrimaryKey("account_id", "host", blank=True, editable=False, primary_key=True, serialize=False)),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ("host", models.CharField(max_length=255)),
                ("failing_since", models.DateTimeField()),
                ("failures", models.PositiveIntegerField()),
                ("last_failed_at", models.DateTimeField()),
                ("last_status", models.PositiveSmallIntegerField(null=True)),
                ("last_error", models.TextField(blank=True)),
                ("recovered_at", models.DateTimeField(null=True)),
                ("told_at", models.DateTimeField(null=True)),
                ("emailed_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddIndex(
            model_name="failinghost",
            index=models.Index(condition=models.Q(("recovered_at__isnull", True)), fields=["account", "failing_since", "host"], name="failing_host_now"),
        ),
        migrations.AddIndex(
            model_name="failinghost",
            index=models.Index(condition=models.Q(("recovered_at__isnull", True), ("told_at__isnull", True)), fields=["failures"], name="failing_host_untold"),
        ),
        migrations.AddIndex(
            model_name="failinghost",
            index=models.Index(condition=models.Q(("recovered_at__isnull", False)), fields=["recovered_at"], name="failing_host_recovered"),
        ),
        migrations.AddIndex(
            model_name="failinghost",
            index=models.Index(fields=["last_failed_at"], name="failing_host_by_age"),
        ),
    ]
