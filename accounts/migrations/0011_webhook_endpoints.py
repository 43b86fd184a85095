"""Webhook endpoints, with secrets of their own."""


import db.columns
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_one_form_of_domains'),
    ]

    operations = [
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('sealed', models.BinaryField()),
                ('issued', models.BooleanField()),
                ('previous_sealed', models.BinaryField(null=True)),
                ('previous_issued', models.BooleanField(null=True)),
                ('previous_until', models.DateTimeField(null=True)),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('id', db.columns.OwnedIdField(owner='account_id', serialize=False)),
                ('slot', models.PositiveSmallIntegerField()),
                ('url', models.TextField()),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('loop_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=24), null=True, size=None)),
                ('is_on', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='webhook_endpoints', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=django.db.models.lookups.Exact(django.db.models.functions.text.Right('id', 3), django.db.models.functions.text.Right('account_id', 3)), name='webhook_endpoint_in_bucket'), models.UniqueConstraint(fields=('account', 'slot'), name='webhook_endpoint_slot_taken'), models.CheckConstraint(condition=models.Q(('slot__gte', 1), ('slot__lte', 5)), name='webhook_endpoint_slot_known'), models.CheckConstraint(condition=models.Q(models.Q(('previous_issued__isnull', True), ('previous_sealed__isnull', True), ('previous_until__isnull', True)), models.Q(('previous_issued__isnull', False), ('previous_sealed__isnull', False), ('previous_until__isnull', False)), _connector='OR'), name='webhook_endpoint_previous_whole')],
            },
        ),
    ]
