"""Deliveries name the endpoint that they are for."""


import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0011_webhook_endpoints'),
        ('webhooks', '0009_outbox'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='endpoint',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.webhookendpoint'),
        ),
    ]
