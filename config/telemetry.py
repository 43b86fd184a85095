"""Reads the standard variables of OpenTelemetry and Sentry.

Each of the two is off, and not imported, unless its variables are set.
"""

import importlib.util
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.variables import is_web_address, read_text

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
INSTALL = "pip install -c constraints.txt -r requirements-observability.txt"


def read_tracing() -> bool:
    """Tells whether spans go to a collector. Raises ImproperlyConfigured."""
    name = next((each for each in ENDPOINTS if read_text(each)), "")
    if not name or read_text("OTEL_SDK_DISABLED").lower() == "true":
        return False
    require_package("opentelemetry", "opentelemetry.exporter.otlp.proto.http", name)
    address = read_text(name)
    if not is_web_address(address):
        raise ImproperlyConfigured(
            f"{name} is {address!r}; set it to the address of a collector, such as"
            " http://localhost:4318."
        )
    for each in PROTOCOLS:
        if read_text(each) not in ("", "http/protobuf"):
            raise ImproperlyConfigured(
                f"{each} is {read_text(each)!r}; the service speaks http/protobuf, to port 4318 of"
                " a collector."
            )
    return True


def read_sentry_dsn() -> str:
    """Returns the DSN for error reports, '' for none. Raises ImproperlyConfigured."""
    dsn = read_text("SENTRY_DSN")
    if not dsn:
        return ""
    require_package("sentry_sdk", "sentry_sdk", "SENTRY_DSN")
    try:
        parts = urlsplit(dsn)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname and parts.username)
        is_valid = is_valid and parts.path.rpartition("/")[2].isdigit() and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ImproperlyConfigured(
            "SENTRY_DSN is no DSN; copy it from the settings of the project:"
            " https://KEY@HOST/NUMBER."
        )
    return dsn


def require_package(package: str, module: str, variable: str) -> None:
    """Raises ImproperlyConfigured if the package that a variable needs is not installed."""
    try:
        is_there = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a parent of the module
        is_there = False
    if not is_there:
        raise ImproperlyConfigured(
            f"{variable} is set, but the package {package} is not installed. Run {INSTALL}, or"
            f" remove {variable}."
        )
