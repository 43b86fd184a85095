// The errors of this package. Each is a ReviewLoopError.

import type { Answer } from "./client.js";

export class ReviewLoopError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

// Of TLS: a wrong certificate stays wrong, and so does a server without TLS. A handshake that broke
// may pass.
const WRONG = /CERT|SIGNATURE|WRONG_VERSION_NUMBER/;
const BLOCKED = "bad port"; // fetch calls no service at ports of other protocols

/** The service was unreachable for as long as the client retried. */
export class ConnectionFailed extends ReviewLoopError {
  /** Whether a repeated call may succeed. */
  readonly mayPass: boolean;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    type Cause = { code?: unknown; message?: unknown };
    const cause = (options?.cause as { cause?: Cause } | undefined)?.cause;
    this.mayPass = !WRONG.test(String(cause?.code)) && cause?.message !== BLOCKED;
  }
}

/** The API refused the call. `msg` is its sentence, and `data` its details. */
export class ApiError extends ReviewLoopError {
  /** The number of earlier attempts. */
  repeats = 0;

  constructor(
    readonly status: number,
    readonly msg: string,
    readonly data: unknown,
    /** Seconds, where the API names them. */
    readonly retryAfter: number | null = null,
  ) {
    const details = typeof data === "string" && data ? `: ${data}` : "";
    super(`${msg}${details} (HTTP ${status})`);
  }
}

/** 400: a field, an id, or a state that forbids the call. */
export class InvalidCall extends ApiError {}
/** 401: the key is missing, malformed, unknown or inactive. */
export class Unauthorized extends ApiError {}
/** 403: the key lacks the permission, or its account the right. */
export class Forbidden extends ApiError {}
/** 404: the loop, request or member does not exist. */
export class NotFound extends ApiError {}
/** 409: a receipt cannot be redeemed any more, or not with these arguments. */
export class ReceiptConflict extends ApiError {}
/** 409: the receipt was redeemed before. */
export class AlreadyRedeemed extends ReceiptConflict {
  get redeemedAt(): string {
    return (this.data as { redeemed_at: string }).redeemed_at;
  }
}
/** 409: a person approved other arguments, or another call. `path` is the first that differs, or `name`. */
export class ArgumentsDiffer extends ReceiptConflict {
  get path(): string {
    return (this.data as { path: string }).path;
  }
}
/** 422: this Idempotency-Key was used for another call. */
export class KeyReused extends ApiError {}
/** 429: the quota of this hour is used up. */
export class RateLimited extends ApiError {}
/** 500 and above, at every attempt. */
export class ServerFailed extends ApiError {}

const BY_STATUS: Record<number, typeof ApiError> = {
  400: InvalidCall,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  422: KeyReused,
  429: RateLimited,
};

export function errorClass(status: number, data?: unknown): typeof ApiError {
  if (status === 409 && typeof data === "object" && data !== null) {
    if ("redeemed_at" in data) return AlreadyRedeemed;
    if ("path" in data) return ArgumentsDiffer;
  }
  return BY_STATUS[status] ?? (status >= 500 ? ServerFailed : ApiError);
}

/** The loop is missing or ambiguous. */
export class LoopNotChosen extends ReviewLoopError {}

/** The name of `resume` belongs to another question. */
export class ResumeConflict extends ReviewLoopError {}

/** The request was cancelled before anyone answered; `supersededBy` is the version that replaced it. */
export class Cancelled extends ReviewLoopError {
  constructor(readonly requestId: string, readonly supersededBy?: string) {
    super(`Request ${requestId} was cancelled${supersededBy ? `; ${supersededBy} has replaced it` : ""}`);
  }
}

/** No answer of people decided, and the caller wanted a person's answer. */
export class DefaultUsed extends ReviewLoopError {
  constructor(readonly answer: Answer) {
    super(explainDefault(answer.request));
  }
}

function explainDefault(request: Answer["request"]): string {
  switch (request.outcome) {
    case "no_agreement":
      return `The people who answered request ${request.id} did not agree`;
    case "unreachable":
      return `Too few people were left to answer request ${request.id}`;
  }
  const who = request.answers_received ? "Too few people" : "Nobody";
  return `${who} answered request ${request.id} in time`;
}

/** The receipt has no valid signature of these keys, has expired, or is for something else. */
export class InvalidReceipt extends ReviewLoopError {}

/** The event was not signed with this secret, or it is too old. */
export class InvalidSignature extends ReviewLoopError {}
