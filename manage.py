#!/usr/bin/env python3
"""Runs Django's commands; `python manage.py help` lists them."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import Error

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except Error as error:
        from db.outages import explain, is_unreachable

        sentence = explain(error)
        # A migration that fails needs its traceback, one that did not begin does not.
        is_failed_migration = "migrate" in sys.argv and not is_unreachable(error)
        if sentence is None or "--traceback" in sys.argv or is_failed_migration:
            raise
        sys.exit(sentence)


if __name__ == "__main__":
    main()
