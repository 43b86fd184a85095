"""What granian runs for the floor."""

import os

import django
from django.core.handlers.wsgi import WSGIHandler

os.environ.setdefault("PROCESS_KIND", "web")
django.setup(set_prefix=False)
application = WSGIHandler()
