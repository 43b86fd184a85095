"""The tables of users, keys, review tokens, secrets, webhook endpoints, usage, codes and audit."""

from accounts.models.audit import AuditEntry as AuditEntry
from accounts.models.keys import PERMISSIONS as PERMISSIONS
from accounts.models.keys import ApiKey as ApiKey
from accounts.models.keys import StoredResponse as StoredResponse
from accounts.models.keys import Usage as Usage
from accounts.models.keys import UsageRow as UsageRow
from accounts.models.people import EmailedCode as EmailedCode
from accounts.models.people import ReservedId as ReservedId
from accounts.models.people import User as User
from accounts.models.review_tokens import ReviewToken as ReviewToken
from accounts.models.webhook_endpoints import MAX_ENDPOINTS as MAX_ENDPOINTS
from accounts.models.webhook_endpoints import WebhookEndpoint as WebhookEndpoint
from accounts.models.webhook_secrets import WebhookSecret as WebhookSecret
