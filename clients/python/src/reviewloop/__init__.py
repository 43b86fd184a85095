"""Asks people for a decision through Review Loop, and gets their answer."""

from reviewloop.answers import Answer
from reviewloop.client import Client
from reviewloop.errors import (
    AlreadyRedeemed,
    ApiError,
    ArgumentsDiffer,
    CallUnderWay,
    Cancelled,
    ConfigurationError,
    ConnectionFailed,
    DefaultUsed,
    Forbidden,
    InvalidCall,
    InvalidReceipt,
    InvalidSignature,
    KeyReused,
    LoopNotChosen,
    NotFound,
    RateLimited,
    ReceiptConflict,
    ResumeConflict,
    ReviewLoopError,
    ServerFailed,
    StateConflict,
    Unauthorized,
)
from reviewloop.events import EventStream, StreamEvent
from reviewloop.receipts import ANY_ARGUMENTS, verify_receipt
from reviewloop.reviewer import Reviewer
from reviewloop.transport import __version__
from reviewloop.types import Decision

__all__ = [
    "ANY_ARGUMENTS",
    "AlreadyRedeemed",
    "Answer",
    "ApiError",
    "ArgumentsDiffer",
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
    "InvalidReceipt",
    "InvalidSignature",
    "KeyReused",
    "LoopNotChosen",
    "NotFound",
    "RateLimited",
    "ReceiptConflict",
    "ResumeConflict",
    "ReviewLoopError",
    "Reviewer",
    "ServerFailed",
    "StateConflict",
    "StreamEvent",
    "Unauthorized",
    "__version__",
    "verify_receipt",
]
