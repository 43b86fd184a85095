"""Configures logs: lines of key=value or JSON on stderr."""

from collections.abc import MutableMapping
from typing import Any

import structlog

from web.web_urls import hide_credentials


def hide_passwords(_: Any, __: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Hides the name and password of every URL in a log line (receiver, database, proxy)."""
    for name, value in entry.items():
        if isinstance(value, str) and "@" in value:
            entry[name] = hide_credentials(value)
    return entry


PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso"),
]


RENDERERS: dict[str, Any] = {
    "logfmt": structlog.processors.LogfmtRenderer(
        key_order=["timestamp", "level", "logger", "event"], bool_as_flag=False
    ),
    "json": structlog.processors.JSONRenderer(default=str, ensure_ascii=False),
}


HANDLERS: dict[str, Any] = {
    "stderr": {"class": "logging.StreamHandler", "formatter": "lines"},
    "reports": {"class": "web.error_reports.Handler"},
}


def configure_logging(
    level: str, form: str = "logfmt", *, reports_errors: bool = False
) -> dict[str, Any]:
    """Configures structlog and returns Django's LOGGING; `form` is one of RENDERERS.

    With `reports_errors`, errors go to Sentry as well.
    """
    handlers = HANDLERS if reports_errors else {"stderr": HANDLERS["stderr"]}
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *PROCESSORS,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": PROCESSORS,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    hide_passwords,
                    RENDERERS[form],
                ],
            }
        },
        "handlers": handlers,
        "root": {"handlers": list(handlers), "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.request": {"level": "ERROR"},
            # clients cause these at will, and get a 400
            "django.security": {"level": "CRITICAL"},
            "django.server": {"handlers": [], "propagate": True},
            "celery": {"level": "WARNING"},
            "kombu": {"level": "WARNING"},
        },
    }
