"""The ground on which the other apps stand."""

from django.apps import AppConfig


class GroundConfig(AppConfig):
    name = "config"
