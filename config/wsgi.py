"""The WSGI application of the web server."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PROCESS_KIND", "web")
application = get_wsgi_application()
get_resolver().url_patterns  # noqa: B018 (loads the views now, not in the first call of each worker)
