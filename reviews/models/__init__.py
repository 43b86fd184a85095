"""The tables of requests, feedback, notifications, counters and search words."""

from reviews.models.counters import Tally as Tally
from reviews.models.counters import TallyChange as TallyChange
from reviews.models.notifications import EmailPreference as EmailPreference
from reviews.models.notifications import Notification as Notification
from reviews.models.notifications import PushSubscription as PushSubscription
from reviews.models.requests import DUE_AT_SQL as DUE_AT_SQL
from reviews.models.requests import OVERDUE as OVERDUE
from reviews.models.requests import OVERDUE_SQL as OVERDUE_SQL
from reviews.models.requests import PRIORITIES as PRIORITIES
from reviews.models.requests import SEEN as SEEN
from reviews.models.requests import Feedback as Feedback
from reviews.models.requests import Request as Request
from reviews.models.requests import RequestQuerySet as RequestQuerySet
from reviews.models.words import RequestWords as RequestWords
