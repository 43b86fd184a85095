"""Adds receipts of approvals, and the keys that sign them."""

import db.columns
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.lookups
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_one_form_of_domains'),
        ('reviews', '0029_valid_links'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SigningKey',
            fields=[
                ('id', db.columns.LookupField(editable=False, max_length=43, primary_key=True, serialize=False)),
                ('public', db.columns.ExactJSONField()),
                ('sealed', models.BinaryField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('retired_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('retired_at__isnull', True), ('sealed__isnull', False)), models.Q(('retired_at__isnull', False), ('sealed__isnull', True)), _connector='OR'), name='signing_key_private_until_retired'), models.UniqueConstraint(django.db.models.lookups.IsNull(models.F('retired_at'), True), condition=models.Q(('retired_at__isnull', True)), name='signing_key_only_one_signs')],
            },
        ),
        migrations.CreateModel(
            name='Receipt',
            fields=[
                ('request', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='receipt', serialize=False, to='reviews.request')),
                ('token', models.TextField()),
                ('arguments_sha256', models.CharField(max_length=64)),
                ('expires_at', models.DateTimeField()),
                ('redeemed_at', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('redeemed_with', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.apikey')),
                ('key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.signingkey')),
            ],
            options={
                'indexes': [models.Index(fields=['key', '-expires_at'], name='receipt_of_key')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('redeemed_at__isnull', True), ('redeemed_with__isnull', True)), models.Q(('redeemed_at__isnull', False), ('redeemed_with__isnull', False)), _connector='OR'), name='receipt_redeemed_with_a_key')],
            },
        ),
    ]
