"""Asks people for a decision through Review Loop, and gets their answer."""

from reviewloop.answers import Answer
from reviewloop.client import Client
from reviewloop.errors import (
    ApiError,
    CallUnderWay,
    Cancelled,
    ConfigurationError,
    ConnectionFailed,
    DefaultUsed,
    Forbidden,
    InvalidCall,
    InvalidSignature,
    KeyReused,
    LoopNotChosen,
    NotFound,
    RateLimited,
    ResumeConflict,
    ReviewLoopError,
    ServerFailed,
    Unauthorized,
)
from reviewloop.events import EventStream, StreamEvent
from reviewloop.transport import __version__
from reviewloop.types import Decision

__all__ = [
    "Answer",
    "ApiError",
    "CallUnderWay",
    "Cancelled",
    "Client",
    "ConfigurationError",
    "ConnectionFailed",
    "Decision",
    "DefaultUsed",
    "EventStream",
    "Forbidden",
    "InvalidCall",
    "InvalidSignature",
    "KeyReused",
    "LoopNotChosen",
    "NotFound",
    "RateLimited",
    "ResumeConflict",
    "ReviewLoopError",
    "ServerFailed",
    "StreamEvent",
    "Unauthorized",
    "__version__",
]
