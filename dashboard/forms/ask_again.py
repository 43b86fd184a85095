"""Fills the form of a new request from an existing one in any state."""

from typing import Any

from dashboard.forms import policy
from dashboard.forms.answer_settings import read_config, write_object
from dashboard.forms.new_request import NewRequestForm
from dashboard.forms.request_body import UNITS
from reviews.models import Request
from reviews.response_types import TYPES, ResponseType
from web.languages import decimal_mark
from web.typed_numbers import write_number

COPIED = (
    "request_text",
    "response_config",
    "default_response",
    "context",
    "metadata",
    "timeout_seconds",
)


def build_initial(item: Request) -> dict[str, Any]:
    """Builds the form's initial values from a request."""
    kind = TYPES.get(item.response_type)
    is_required = kind.required_by_default if kind else True
    timeout, unit = _split_seconds(item.timeout_seconds)
    initial: dict[str, Any] = {
        "loop": item.loop_id,
        "type": item.type,
        "request_text": item.request_text,
        "image_url": item.image_url or "",
        "priority": item.priority,
        "processing_type": item.processing_type,
        "response_type": item.response_type,
        "required": item.response_config.get("required", is_required),
        "default_response": _write_default(kind, item.default_response),
        "callback_url": item.callback_url or "",
        "context": write_object(item.context),
        "metadata": write_object(item.metadata),
    }
    if item.processing_type == "time-sensitive":
        initial |= {"timeout": timeout, "timeout_unit": unit}
    initial |= policy.build_initial(item.policy)
    return initial | (read_config(kind, item.response_config) if kind else {})


def find_lost(item: Request, form: NewRequestForm) -> list[str]:
    """Returns the names of fields that the form cannot show."""
    body = form.build_body()
    lost = [name for name in COPIED if name in body and body[name] != getattr(item, name)]
    if "response_config" in lost:
        lost.remove("response_config")
        config, new = item.response_config, body["response_config"]
        lost += [str(name) for name, value in config.items() if new.get(name) != value]
    if not form.has_loop_policy() and body.get("policy") != item.policy:
        lost.append("policy")
    return lost


def _split_seconds(seconds: int) -> tuple[str, str]:
    """Returns the time in the largest unit that divides it, as the form's two fields."""
    unit = next(name for name in reversed(UNITS) if seconds % UNITS[name] == 0)
    return str(seconds // UNITS[unit]), unit


def _write_default(kind: ResponseType | None, value: Any) -> str:
    if isinstance(value, dict):
        return kind.write_default(value) if kind else ""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else write_number(value, point=decimal_mark())
