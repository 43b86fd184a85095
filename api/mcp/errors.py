"""What goes wrong in a call to /mcp: an error of JSON-RPC, or a tool that fails."""

import json
from typing import Any

from api.errors import ApiError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


class RpcError(Exception):
    """An error response of JSON-RPC. `status` is that of HTTP."""

    def __init__(self, code: int, message: str, *, data: Any = None, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status
        self.headers: dict[str, str] = {}

    def describe(self) -> dict[str, Any]:
        """Builds the `error` of the response."""
        fields = {"code": self.code, "message": self.message}
        return fields if self.data is None else {**fields, "data": self.data}


class ToolFailed(Exception):
    """A tool fails; its caller reads why: the sentence of the API and its detail."""

    def __init__(self, sentence: str, detail: Any = None, *, status: int = 400) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail
        self.status = status

    def format(self) -> str:
        """Formats the failure as one line: 'Validation failed: wait must be an integer …'."""
        if not self.detail:
            return self.sentence
        is_text = isinstance(self.detail, str)
        detail = self.detail if is_text else json.dumps(self.detail, ensure_ascii=False)
        return f"{self.sentence}: {detail}"


def fail(error: ApiError) -> ToolFailed:
    """Builds the failure of a tool from an error of the API."""
    return ToolFailed(error.sentence, error.detail, status=error.status)


def build_access_error(sentence: str, detail: Any, *, status: int) -> RpcError:
    """Builds the error of a call that may not be made at all: its code is the status of HTTP."""
    error = RpcError(status, sentence, data=detail or None, status=status)
    if status == 401:
        error.headers["WWW-Authenticate"] = "Bearer"
    return error
