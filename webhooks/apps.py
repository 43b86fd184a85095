"""Webhooks: what leaves this service, and how it got there."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
