// The client: one service, one key.

import { askOnce, askResumably } from "./asking.js";
import { WebhookEndpoints } from "./endpoints.js";
import { follow, type EventOptions, type StreamEvent } from "./events.js";
import { AlreadyRedeemed, Cancelled, DefaultUsed, LoopNotChosen, InvalidCall } from "./errors.js";
import type { Receipt } from "./receipts.js";
import type { Store } from "./store.js";
import { Transport, type Settings } from "./transport.js";
import type {
  Decision,
  Feedback,
  ListedRequest,
  Loop,
  LoopChanges,
  LoopInput,
  Member,
  NewRequest,
  OwnLoop,
  Priority,
  Request,
  ResponseType,
  Value,
} from "./types.js";

const MAX_WAIT = 50; // seconds, the longest `?wait`
const MAX_PAUSE = 40; // seconds between polls, where a call may not wait
const READ_SECONDS = 30;
const PAGE = 100;
const FIRST_LOOP = "Questions";

/** The end of a request. If `byHuman` is false, nobody's answer decided and `value` is the default. */
export interface Answer {
  value: Value;
  byHuman: boolean;
  comment: string | null;
  /** What was decided about a proposed call; null for a question of another type. */
  decision: Decision | null;
  /** The arguments that a person approved, exactly as they may run; null if nobody did. */
  arguments: Record<string, unknown> | null;
  request: Request;
}

export interface AskOptions {
  /** The answer if nobody answers in time. */
  default: Value;
  /** The choices; without them the answer is a text, or as `responseType` says. */
  options?: readonly (string | { value: string; label: string })[];
  responseType?: ResponseType;
  responseConfig?: Record<string, unknown>;
  /** 60 to 86400 seconds; null stands for 30 days. Default: an hour. */
  timeoutSeconds?: number | null;
  /** Name or id of a loop; without it, the only loop of the account. */
  loop?: string;
  /** The question outlives this process: a later call with the same name finds it again. */
  resume?: { name: string; store: Store };
  /** Throw DefaultUsed instead of returning the default. */
  requireHuman?: boolean;
  priority?: Priority;
  context?: Record<string, unknown>;
  imageUrl?: string;
  callbackUrl?: string;
  /** Strings of your own, such as an order number. Reviewers do not see them. */
  metadata?: Record<string, string>;
  /** The id of the request that this one is the next version of. It is cancelled if it is open. */
  replaces?: string;
  /** Several people answer, and a rule makes one outcome of it: `request.outcome`. */
  policy?: {
    rule?: "first" | "majority" | "unanimous" | "median";
    answers?: number;
    blind?: boolean;
    exclude_creator?: boolean;
    veto?: readonly unknown[];
  };
  /** The trace that the question belongs to (W3C Trace Context); its webhooks continue it. */
  traceparent?: string;
}

export interface RequestFilters {
  loop_id?: string;
  status?: string;
  priority?: Priority;
  /** Only requests that the account created with all of these pairs. */
  metadata?: Record<string, string>;
  sort?: "created_at_desc" | "created_at_asc" | "priority_desc" | "status_asc";
}

export class Client {
  readonly loops: Loops;
  readonly requests: Requests;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly #transport: Transport;

  constructor(settings: Settings) {
    this.#transport = new Transport(settings);
    this.loops = new Loops(this.#transport);
    this.requests = new Requests(this.#transport);
    this.webhookEndpoints = new WebhookEndpoints(this.#transport);
  }

  get url(): string {
    return this.#transport.url;
  }

  /** Returns what the service knows about the key. */
  async check(): Promise<{ user_id: string; email: string; permissions: string[] }> {
    const call = this.#transport.call<{ user_id: string; email: string; permissions: string[] }>;
    return (await call.apply(this.#transport, ["GET", "/test"])).data;
  }

  /**
   * Asks people a question and waits for their answer. Throws Cancelled, and with `requireHuman`
   * DefaultUsed; ResumeConflict, LoopNotChosen, ApiError and ConnectionFailed.
   */
  async ask(question: string, options: AskOptions): Promise<Answer> {
    const body = buildBody(question, options);
    const request = options.resume
      ? await askResumably(this, body, options.loop ?? null, options.resume, options.traceparent)
      : await askOnce(this, body, options.loop, options.traceparent);
    if (request.status === "cancelled") throw new Cancelled(request.id, request.superseded_by);
    const value = request.response_data as Value;
    const byHuman = request.answered_by === "human" || request.answered_by === "grant";
    const decision = request.response_type === "approval" ? (value as Decision) : null;
    const answer: Answer = {
      value,
      byHuman,
      comment: request.response_comment,
      decision,
      arguments: (byHuman && decision?.arguments) || null,
      request,
    };
    if (options.requireHuman && !answer.byHuman) throw new DefaultUsed(answer);
    return answer;
  }

  /**
   * Yields what happens to the account's requests from the first `next` on. It goes on where a
   * broken connection ended. Throws ApiError, ConnectionFailed.
   */
  events(options: EventOptions = {}): AsyncGenerator<StreamEvent> {
    return follow(this.#transport, options);
  }
}

export class Loops {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the loops that the account created. */
  async list(): Promise<Loop[]> {
    return (await this.#transport.call<{ loops: Loop[] }>("GET", "/api/loops")).data.loops;
  }

  /** Reads a loop with its join link. */
  async get(loopId: string): Promise<OwnLoop> {
    const path = `/api/loops/${encodeURIComponent(loopId)}`;
    return (await this.#transport.call<{ loop: OwnLoop }>("GET", path)).data.loop;
  }

  async create(body: LoopInput, idempotencyKey: string = newKey()): Promise<OwnLoop> {
    const options = { body, idempotencyKey };
    const made = await this.#transport.call<{ loop: Loop } & Omit<OwnLoop, keyof Loop>>(
      "POST",
      "/api/loops",
      options,
    );
    return { ...made.data, ...made.data.loop };
  }

  async update(loopId: string, body: LoopChanges): Promise<OwnLoop> {
    const path = `/api/loops/${encodeURIComponent(loopId)}`;
    return (await this.#transport.call<{ loop: OwnLoop }>("PUT", path, { body })).data.loop;
  }

  /** Deletes a loop, which cancels its open requests. */
  async delete(loopId: string): Promise<void> {
    await this.#transport.delete(`/api/loops/${encodeURIComponent(loopId)}`);
  }

  async members(loopId: string): Promise<Member[]> {
    const path = `/api/loops/${encodeURIComponent(loopId)}/members`;
    return (await this.#transport.call<{ members: Member[] }>("GET", path)).data.members;
  }

  async removeMember(loopId: string, userId: string): Promise<void> {
    const [loop, user] = [loopId, userId].map(encodeURIComponent);
    await this.#transport.delete(`/api/loops/${loop}/members/${user}`);
  }

  /** Finds a loop by its id or its name; without one, the only loop. The first loop is made. */
  async find(nameOrId?: string): Promise<Loop> {
    const loops = await this.list();
    const names = loops.map((loop) => loop.name).sort();
    const known = names.length ? `Your loops: ${names.join(", ")}.` : "Your account has no loops.";
    if (nameOrId === undefined) {
      if (loops.length > 1) throw new LoopNotChosen(`Which loop? ${known}`);
      return loops[0] ?? (await this.create({ name: FIRST_LOOP, icon: "chat" }));
    }
    let found = loops.filter((loop) => loop.name === nameOrId);
    if (!found.length) found = loops.filter((loop) => loop.id === nameOrId.toLowerCase());
    const [only, ...others] = found;
    if (!only) throw new LoopNotChosen(`There is no loop "${nameOrId}". ${known}`);
    if (!others.length) return only;
    throw new LoopNotChosen(`${found.length} loops are called "${nameOrId}": use an id`);
  }
}

export class Requests {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Asks a loop. */
  async create(
    loopId: string,
    body: NewRequest,
    idempotencyKey: string = newKey(),
    traceparent?: string,
  ): Promise<{ request_id: string; timeout_at: string; broadcasted_to: number }> {
    const path = `/api/loops/${encodeURIComponent(loopId)}/requests`;
    const options = { body, idempotencyKey, traceparent };
    type Created = { request_id: string; timeout_at: string; broadcasted_to: number };
    return (await this.#transport.call<Created>("POST", path, options)).data;
  }

  /** Reads a request as it is now. */
  async get(requestId: string): Promise<Request> {
    const path = `/api/requests/${encodeURIComponent(requestId)}`;
    return (await this.#transport.call<{ request: Request }>("GET", path)).data.request;
  }

  /**
   * Returns the request as soon as it has ended, or after `seconds` as it is then. While it waits,
   * it sits out outages of the service and hours whose quota is used up, but none that go on
   * after `seconds`.
   */
  async wait(requestId: string, seconds: number = Infinity): Promise<Request> {
    const endsAt = performance.now() + seconds * 1000;
    const left = () => (endsAt - performance.now()) / 1000;
    for (let pause = 1; ; ) {
      const { request, hasWaited } = await this.#waitOnce(requestId, left());
      if (["completed", "timeout", "cancelled"].includes(request.status)) return request;
      if (!hasWaited) {
        // too many calls wait at the service
        await this.#transport.sleep(Math.max(0, Math.min(pause, left())));
        pause = Math.min(2 * pause, MAX_PAUSE);
      }
      if (left() <= 0) return request;
    }
  }

  /** Cancels a request while it is pending. */
  async cancel(requestId: string, traceparent?: string): Promise<void> {
    const path = `/api/requests/${encodeURIComponent(requestId)}`;
    try {
      await this.#transport.call("DELETE", path, { traceparent });
    } catch (error) {
      // an earlier attempt may have succeeded without its response
      const isRepeated = error instanceof InvalidCall && error.repeats > 0;
      if (!isRepeated || (await this.get(requestId)).status !== "cancelled") throw error;
    }
  }

  /** Yields the requests that the account created, page by page. */
  list(filters: RequestFilters = {}, pageSize: number = PAGE): AsyncGenerator<ListedRequest> {
    return this.#pages("/api/requests", { ...flatten(filters), limit: pageSize });
  }

  /** Yields the requests of a loop that the account created or is a member of. */
  listOfLoop(
    loopId: string,
    filters: Omit<RequestFilters, "loop_id"> = {},
    pageSize: number = PAGE,
  ): AsyncGenerator<ListedRequest> {
    const path = `/api/loops/${encodeURIComponent(loopId)}/requests`;
    return this.#pages(path, { ...flatten(filters), limit: pageSize });
  }

  /** Gives feedback on an answer. */
  async giveFeedback(
    requestId: string,
    feedback: Feedback,
    idempotencyKey: string = newKey(),
  ): Promise<Feedback> {
    const path = `/api/requests/${encodeURIComponent(requestId)}/feedback`;
    const options = { body: { feedback }, idempotencyKey };
    return (await this.#transport.call<{ feedback: Feedback }>("POST", path, options)).data.feedback;
  }

  /** Reads the signed receipt of an approval. Throws InvalidCall if nobody approved it. */
  async receipt(requestId: string): Promise<Receipt> {
    const path = `/api/requests/${encodeURIComponent(requestId)}/receipt`;
    return (await this.#transport.call<Receipt>("GET", path)).data;
  }

  /**
   * Redeems an approval, once: call it right before you run what was approved. `args` and `name` are
   * those of the call that you are about to run; without a name only the arguments are compared. A
   * string instead of the options is the idempotency key, which is random for each process that runs
   * the call. Throws AlreadyRedeemed, ArgumentsDiffer, and
   * InvalidCall if nobody approved it or its receipt has expired.
   */
  async redeem(
    requestId: string,
    args: Record<string, unknown>,
    given: string | { name?: string; idempotencyKey?: string } = {},
  ): Promise<Receipt> {
    const { name, idempotencyKey } =
      typeof given === "string" ? { name: undefined, idempotencyKey: given } : given;
    const path = `/api/requests/${encodeURIComponent(requestId)}/redeem`;
    const options = { body: { arguments: args, name }, idempotencyKey: idempotencyKey ?? newKey() };
    const { data, headers, mayHaveRun } = await this.#transport.call<Receipt>("POST", path, options);
    // A new key is nobody else's. Under a key of the caller's, another process may have redeemed.
    const isReplay = headers.get("Idempotent-Replayed") === "true";
    if (idempotencyKey !== undefined && isReplay && !mayHaveRun) {
      throw new AlreadyRedeemed(409, "Receipt was already redeemed", { redeemed_at: data.redeemed_at });
    }
    return data;
  }

  async #waitOnce(requestId: string, seconds: number) {
    const wait = Math.max(1, Math.min(MAX_WAIT, Math.round(seconds)));
    const path = `/api/requests/${encodeURIComponent(requestId)}`;
    const { data, headers } = await this.#transport.call<{ request: Request }>("GET", path, {
      query: { wait },
      readSeconds: wait + READ_SECONDS,
      ...(seconds === Infinity ? { sitOutQuota: true } : { patience: seconds }),
    });
    const applied = (headers.get("Wait-Applied") ?? "0").split(";")[0]?.trim();
    return { request: data.request, hasWaited: applied !== "0" };
  }

  async *#pages(
    path: string,
    query: Record<string, string | number | undefined>,
  ): AsyncGenerator<ListedRequest> {
    // By its cursor: a request that leaves the list does not shift the others.
    let place: Record<string, string | number> | undefined = { cursor: "" };
    const seen = new Set<string>(); // a status may change between two pages of a list sorted by it
    while (place) {
      const { data }: { data: Page } = await this.#transport.call<Page>("GET", path, {
        query: { ...query, ...place },
      });
      for (const request of data.requests) {
        if (seen.has(request.id)) continue;
        seen.add(request.id);
        yield request;
      }
      place = findNext(data.pagination);
    }
  }
}

interface Page {
  requests: ListedRequest[];
  pagination: { next_offset: number | null; next_cursor?: string | null };
}

/** Returns the position of the next page; older services know only offsets. */
function findNext({ next_offset, next_cursor }: Page["pagination"]) {
  if (next_cursor) return { cursor: next_cursor };
  return next_offset ? { offset: next_offset } : undefined;
}

export function newKey(): string {
  return crypto.randomUUID();
}

/** Writes each pair of `metadata` as the parameter that filters by it. */
function flatten({ metadata = {}, ...others }: RequestFilters): Record<string, string | undefined> {
  const pairs = Object.entries(metadata).map(([name, value]) => [`metadata[${name}]`, value]);
  return { ...others, ...Object.fromEntries(pairs) };
}

function buildBody(question: string, options: AskOptions): NewRequest {
  const timeout = options.timeoutSeconds === undefined ? 3600 : options.timeoutSeconds;
  const fields = {
    processing_type: timeout === null ? "deferred" : "time-sensitive",
    timeout_seconds: timeout,
    type: options.imageUrl ? "image" : "markdown",
    image_url: options.imageUrl,
    priority: options.priority ?? "medium",
    request_text: question,
    response_type: options.responseType ?? (options.options ? "single_select" : "text"),
    response_config: { ...(options.options && { options: options.options }), ...options.responseConfig },
    default_response: options.default,
    context: options.context,
    callback_url: options.callbackUrl,
    metadata: options.metadata,
    replaces: options.replaces,
    policy: options.policy,
    platform: "api",
    platform_version: "reviewloop-typescript",
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given) as unknown as NewRequest; // the API checks it
}
