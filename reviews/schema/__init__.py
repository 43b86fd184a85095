"""What the OpenAPI document says about requests, their answers, and events."""

from reviews.schema.answers import COMPONENTS as ANSWERS
from reviews.schema.answers import FIELDS
from reviews.schema.events import COMPONENTS as EVENTS
from reviews.schema.events import WEBHOOKS
from reviews.schema.listings import OPERATIONS as LISTINGS
from reviews.schema.loops import OPERATIONS as LOOPS
from reviews.schema.requests import OPERATIONS as REQUESTS

__all__ = ["COMPONENTS", "FIELDS", "OPERATIONS", "WEBHOOKS"]

OPERATIONS = {**LOOPS, **LISTINGS, **REQUESTS}
COMPONENTS = {**ANSWERS, **EVENTS}
