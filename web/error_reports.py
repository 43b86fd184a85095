"""Reports the log's records of level ERROR to Sentry, and nothing else.

An event has the traceback without the values of variables, the id of the call and the kind of the
process. It has no request: no path, header, cookie, body or person. Texts of exceptions are
shortened and hide what looks like a secret or an address.
"""

import logging
import os
import re
import sys
import threading
from typing import Any

from django.conf import settings

from web import call_ids
from web.web_urls import hide_credentials

HIDDEN = "[hidden]"
MAX_TEXT = 500  # characters
OWN = ("sentry_sdk", "opentelemetry", "urllib3")  # loggers of what reports
_SECRETS = re.compile(
    r"rl_live_\w*|whsec_\S*|gAAAA[\w=-]{20,}|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+|[?#]\S*|\b[\w-]{40,}\b"
)


class Handler(logging.Handler):
    """Sends records to SENTRY_DSN.

    The first record starts the SDK: only processes with errors import it, and web processes have
    forked by then.
    """

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._starting = threading.Lock()
        self._process = 0

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] in OWN:
            return
        try:
            self._start()
            self._send(record)
        except Exception:
            self.handleError(record)

    def _start(self) -> None:
        with self._starting:
            if self._process != os.getpid():
                start(settings.SENTRY_DSN)
                self._process = os.getpid()

    def _send(self, record: logging.LogRecord) -> None:
        import sentry_sdk

        with sentry_sdk.new_scope() as scope:
            scope.set_tag("process", settings.PROCESS_KIND)
            scope.set_tag("logger", record.name)
            if call_id := call_ids.current():
                scope.set_tag("request_id", call_id)
            if error := find_error(record):
                scope.set_transaction_name(describe(record))
                sentry_sdk.capture_exception(error)
            else:
                sentry_sdk.capture_message(describe(record), "error")


def start(dsn: str) -> None:
    """Starts the SDK in this process without its automatic integrations."""
    import sentry_sdk
    from sentry_sdk.integrations.atexit import AtexitIntegration
    from sentry_sdk.integrations.dedupe import DedupeIntegration

    sentry_sdk.init(
        dsn,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[AtexitIntegration(lambda *_: None), DedupeIntegration()],
        include_local_variables=False,
        send_default_pii=False,
        max_breadcrumbs=0,
        traces_sample_rate=None,
        auto_session_tracking=False,
        before_send=scrub,
    )


def find_error(record: logging.LogRecord) -> BaseException | None:
    """Returns the exception of a record, or None."""
    given: Any = record.exc_info
    if isinstance(record.msg, dict):  # of structlog
        given = record.msg.get("exc_info")
    if given is True:
        given = sys.exc_info()
    return given[1] if isinstance(given, tuple) else given or None


def describe(record: logging.LogRecord) -> str:
    """Returns the event of a record, or its message without the arguments."""
    if isinstance(record.msg, dict):  # of structlog
        return str(record.msg.get("event", record.name))
    return str(record.msg)


def scrub(event: Any, _hint: Any) -> Any:
    """Removes possibly private data from an event."""
    for name in ("request", "user", "extra", "breadcrumbs", "modules"):
        event.pop(name, None)
    for each in event.get("exception", {}).get("values", []):
        each["value"] = hide_secrets(each.get("value") or "")
    if "message" in event:
        event["message"] = hide_secrets(event["message"])
    return event


def hide_secrets(text: str) -> str:
    """Returns the first line, in which PostgreSQL names no values, with hidden secrets."""
    line = next(iter(text.splitlines()), "")
    return _SECRETS.sub(HIDDEN, hide_credentials(line))[:MAX_TEXT]
