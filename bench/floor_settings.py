"""The service's settings, without middleware, and with the views of `bench.floor`."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES, INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS.clear()
MIDDLEWARE.clear()
ROOT_URLCONF = "bench.floor"
DATABASES["default"]["CONN_HEALTH_CHECKS"] = False
