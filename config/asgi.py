"""What the web server runs: Django's synchronous handler (web/server/application.py)."""

import os

import django
from django.urls import get_resolver

from web.asgi import Handler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PROCESS_KIND", "web")
django.setup(set_prefix=False)
application = Handler()
get_resolver().url_patterns  # noqa: B018 (loads the views now, not in the first call of each worker)
