"""The WSGI application of the web server."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PROCESS_KIND", "web")
application = get_wsgi_application()
