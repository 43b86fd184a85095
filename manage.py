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
        from db.outages import explain

        sentence = explain(error)
        if sentence is None or {"--traceback", "migrate"} & {*sys.argv}:
            raise
        sys.exit(sentence)


if __name__ == "__main__":
    main()
