"""The errors 500 of the API: one class for each operation, with its sentence.

The sentences are part of the contract (docs/contract.md) and are written only here.
"""

from api.errors import ServerFailure


class UserInformationFailed(ServerFailure):
    sentence = "Failed to get user information"


class CreateLoopFailed(ServerFailure):
    sentence = "Failed to create loop"


class ListLoopsFailed(ServerFailure):
    sentence = "Failed to retrieve loops"


class ReadLoopFailed(ServerFailure):
    sentence = "Failed to retrieve loop"


class UpdateLoopFailed(ServerFailure):
    sentence = "Failed to update loop"


class DeleteLoopFailed(ServerFailure):
    sentence = "Failed to delete loop"


class ListMembersFailed(ServerFailure):
    sentence = "Failed to retrieve loop members"


class RemoveMemberFailed(ServerFailure):
    sentence = "Failed to remove member"


class CreateRequestFailed(ServerFailure):
    sentence = "Failed to create request"


class ListRequestsFailed(ServerFailure):
    sentence = "Failed to retrieve requests"


class ListLoopRequestsFailed(ServerFailure):
    sentence = "Failed to retrieve loop requests"


class ReadRequestFailed(ServerFailure):
    sentence = "Failed to retrieve request"


class CancelRequestFailed(ServerFailure):
    sentence = "Failed to cancel request"


class AddFeedbackFailed(ServerFailure):
    sentence = "Failed to add feedback"


class ReadReceiptFailed(ServerFailure):
    sentence = "Failed to retrieve receipt"


class RedeemFailed(ServerFailure):
    sentence = "Failed to redeem receipt"


class ReadStatisticsFailed(ServerFailure):
    sentence = "Failed to retrieve loop statistics"


class ExportDecisionsFailed(ServerFailure):
    sentence = "Failed to export decisions"


class CreateEndpointFailed(ServerFailure):
    sentence = "Failed to create webhook endpoint"


class ListEndpointsFailed(ServerFailure):
    sentence = "Failed to retrieve webhook endpoints"


class ReadEndpointFailed(ServerFailure):
    sentence = "Failed to retrieve webhook endpoint"


class UpdateEndpointFailed(ServerFailure):
    sentence = "Failed to update webhook endpoint"


class DeleteEndpointFailed(ServerFailure):
    sentence = "Failed to delete webhook endpoint"


class RotateSecretFailed(ServerFailure):
    sentence = "Failed to rotate webhook secret"


class ListReviewRequestsFailed(ServerFailure):
    sentence = "Failed to retrieve review requests"


class ReadReviewRequestFailed(ServerFailure):
    sentence = "Failed to retrieve review request"


class ClaimFailed(ServerFailure):
    sentence = "Failed to claim request"


class ReleaseFailed(ServerFailure):
    sentence = "Failed to release request"


class AnswerFailed(ServerFailure):
    sentence = "Failed to answer request"


class ReadEventsFailed(ServerFailure):
    sentence = "Failed to retrieve events"
