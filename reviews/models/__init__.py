"""The tables of requests, answers, receipts, feedback, notifications and the like."""

from reviews.models.answers import Answer as Answer
from reviews.models.answers import build_answer as build_answer
from reviews.models.counters import Counter as Counter
from reviews.models.counters import CounterChange as CounterChange
from reviews.models.erasures import Erasure as Erasure
from reviews.models.exports import ExportLease as ExportLease
from reviews.models.feedback import Feedback as Feedback
from reviews.models.grants import Grant as Grant
from reviews.models.notifications import EmailPreference as EmailPreference
from reviews.models.notifications import Notification as Notification
from reviews.models.notifications import PushSubscription as PushSubscription
from reviews.models.receipts import Receipt as Receipt
from reviews.models.receipts import SigningKey as SigningKey
from reviews.models.requests import CONTENT_TYPES as CONTENT_TYPES
from reviews.models.requests import PLATFORMS as PLATFORMS
from reviews.models.requests import PRIORITIES as PRIORITIES
from reviews.models.requests import PROCESSING_TYPES as PROCESSING_TYPES
from reviews.models.requests import Request as Request
from reviews.models.requests import RequestQuerySet as RequestQuerySet
from reviews.models.viewers import Viewer as Viewer
from reviews.models.words import RequestWords as RequestWords
