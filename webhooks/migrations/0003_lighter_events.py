"""Every event of a sweep pays for every index, and every attempt for those that its outcome is in.

The deliveries of a request are found by their occurrences, whose index is there anyway. Of the
states only `dead` is both rare and asked for: what waits is in the lanes' index, and what was
delivered is met at once in a log that is read from its end.

That the account exists, every request of it says already: looked up for each event, it took a
tenth of a sweep.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0002_vacuum"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.RemoveIndex(model_name="delivery", name="delivery_by_subject"),
        migrations.RemoveIndex(model_name="delivery", name="delivery_by_state"),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                fields=["account", "-created_at", "-id"],
                condition=Q(state="dead"),
                name="delivery_dead",
            ),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="account",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deliveries",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
