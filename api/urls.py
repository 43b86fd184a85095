"""URLs of the API below /v1, of MCP, and of the documents for programs and their authors."""

from django.urls import path, re_path

from api import guides
from api.decisions import LoopDecisions, LoopStatistics
from api.events import Events
from api.keys import KeyCheck
from api.loops import LoopDetail, LoopMember, LoopMembers, Loops
from api.mcp.endpoint import endpoint
from api.openapi import pages
from api.openapi.webhook_schema import PATH, webhook_schema
from api.receipts import RequestReceipt, RequestRedemption, jwks
from api.requests import LoopRequests, RequestDetails, RequestFeedback, Requests
from api.reviewing import (
    ReviewAnswer,
    ReviewClaim,
    ReviewRelease,
    ReviewRequest,
    ReviewRequests,
)
from api.views import UnknownPath
from api.webhook_endpoints import (
    WebhookEndpointDetail,
    WebhookEndpoints,
    WebhookEndpointSecret,
)

LOOP = r"^v1/api/loops/(?P<loop_id>[^/]+)"
ENDPOINT = r"^v1/api/webhook-endpoints/(?P<endpoint_id>[^/]+)"
REVIEW = r"^v1/review/requests/(?P<request_id>[^/]+)"
REQUEST = r"^v1/api/requests/(?P<request_id>[^/]+)"

# Django tries the paths in this order: the most frequent ones come first.
urlpatterns = [
    re_path(REQUEST + r"/?\Z", RequestDetails.as_view()),
    re_path(LOOP + r"/requests/?\Z", LoopRequests.as_view()),
    re_path(r"^v1/api/requests/?\Z", Requests.as_view()),
    re_path(REQUEST + r"/feedback/?\Z", RequestFeedback.as_view()),
    re_path(REQUEST + r"/receipt/?\Z", RequestReceipt.as_view()),
    re_path(REQUEST + r"/redeem/?\Z", RequestRedemption.as_view()),
    re_path(r"^v1/api/loops/?\Z", Loops.as_view()),
    re_path(LOOP + r"/?\Z", LoopDetail.as_view()),
    re_path(LOOP + r"/members/?\Z", LoopMembers.as_view()),
    re_path(LOOP + r"/members/(?P<user_id>[^/]+)/?\Z", LoopMember.as_view()),
    re_path(LOOP + r"/statistics/?\Z", LoopStatistics.as_view()),
    re_path(LOOP + r"/decisions/?\Z", LoopDecisions.as_view()),
    re_path(r"^v1/api/events/?\Z", Events.as_view()),
    re_path(r"^v1/api/webhook-endpoints/?\Z", WebhookEndpoints.as_view()),
    re_path(ENDPOINT + r"/?\Z", WebhookEndpointDetail.as_view()),
    re_path(ENDPOINT + r"/rotate/?\Z", WebhookEndpointSecret.as_view()),
    re_path(r"^v1/review/requests/?\Z", ReviewRequests.as_view()),
    re_path(REVIEW + r"/?\Z", ReviewRequest.as_view()),
    re_path(REVIEW + r"/claim/?\Z", ReviewClaim.as_view()),
    re_path(REVIEW + r"/release/?\Z", ReviewRelease.as_view()),
    re_path(REVIEW + r"/answer/?\Z", ReviewAnswer.as_view()),
    re_path(r"^v1/test/?\Z", KeyCheck.as_view()),
    re_path(r"^v1(?:/[\s\S]*)?\Z", UnknownPath.as_view()),
    re_path(r"^mcp/?\Z", endpoint),
    path(".well-known/jwks.json", jwks, name="jwks"),
    path("openapi.json", pages.openapi, name="openapi"),
    path(PATH, webhook_schema),
    path("docs", pages.docs, name="docs"),
    path("llms.txt", guides.llms),
    *(path(name, guides.guide, {"name": name}) for name in guides.GUIDES),
]
