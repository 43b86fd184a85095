"""What the OpenAPI document says about requests, their answers, and events."""

from api.openapi.answers import COMPONENTS as ANSWERS
from api.openapi.answers import FIELDS
from api.openapi.events import COMPONENTS as EVENTS
from api.openapi.events import WEBHOOKS
from api.openapi.listings import OPERATIONS as LISTINGS
from api.openapi.loop_deletion import OPERATIONS as LOOPS
from api.openapi.requests import OPERATIONS as REQUESTS

__all__ = ["COMPONENTS", "FIELDS", "OPERATIONS", "WEBHOOKS"]

OPERATIONS = {**LOOPS, **LISTINGS, **REQUESTS}
COMPONENTS = {**ANSWERS, **EVENTS}
