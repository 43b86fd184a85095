// Sends calls to the API, and repeats those that failed for a reason that may pass.

import { ApiError, ConnectionFailed, NotFound, RateLimited, ReceiptConflict, ReviewLoopError, errorClass } from "./errors.js";
import { writeJson } from "./json.js";

const READ_SECONDS = 30;
const LATE_SECONDS = 5; // for a response that comes late to a call with a patience of its own
const FIRST_PAUSE = 0.5;
const MAX_PAUSE = 30;
const PASSING = [408, 409, 429]; // and all from 500 on

export interface Settings {
  /** The service's address, which ends in /v1. */
  url: string;
  /** An API key. */
  key: string;
  /** For how many seconds a call is repeated. */
  patience?: number;
  /** Sleeps for so many seconds; for tests. */
  sleep?: (seconds: number) => Promise<void>;
}

export interface Options {
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  idempotencyKey?: string;
  traceparent?: string | undefined;
  readSeconds?: number;
  /** For how many seconds this call is repeated. After that a response may come 5 s late. */
  patience?: number;
  /** A 429 does not count against the patience. */
  sitOutQuota?: boolean;
}

export interface Result<Data> {
  data: Data;
  headers: Headers;
  /** The response to an attempt before was lost. */
  mayHaveRun: boolean;
}

export class Transport {
  readonly url: string;
  readonly sleep: (seconds: number) => Promise<void>;
  readonly patience: number;
  readonly #key: string;

  constructor(settings: Settings) {
    const url = settings.url.trim().replace(/\/+$/, "");
    if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) throw new ReviewLoopError(`"${url}" is no address`);
    if (!/^[!-~]+$/.test(settings.key.trim())) {
      throw new ReviewLoopError("The API key is empty, or has other characters than one");
    }
    this.url = url.endsWith("/v1") ? url : `${url}/v1`;
    this.#key = settings.key.trim();
    this.patience = settings.patience ?? 600;
    this.sleep = settings.sleep ?? sleep;
  }

  /** Returns what the API answers. Throws ApiError, ConnectionFailed. */
  async call<Data>(method: string, path: string, options: Options = {}): Promise<Result<Data>> {
    let left = options.patience ?? this.patience;
    let mayHaveRun = false;
    for (let repeats = 0; ; repeats++) {
      const begun = performance.now();
      const longest = options.patience === undefined ? Infinity : Math.max(0, left) + LATE_SECONDS;
      const readSeconds = Math.min(options.readSeconds ?? READ_SECONDS, longest);
      const outcome = await this.#attempt<Data>(method, path, { ...options, readSeconds }, repeats);
      if (!(outcome instanceof ReviewLoopError)) return { ...outcome, mayHaveRun };
      mayHaveRun ||= !(outcome instanceof ApiError) || outcome.status === 408 || outcome.status >= 500;
      const pause = choosePause(outcome, repeats);
      const isFree = options.sitOutQuota && outcome instanceof RateLimited;
      left -= (performance.now() - begun) / 1000 + (isFree ? 0 : pause);
      if (left < 0) throw outcome;
      await this.sleep(pause);
    }
  }

  /** Deletes what has this path. Throws NotFound unless an earlier attempt deleted it. */
  async delete(path: string): Promise<void> {
    try {
      await this.call("DELETE", path);
    } catch (error) {
      if (!(error instanceof NotFound && error.repeats)) throw error;
    }
  }

  /** Sends the call once. Returns a failure that may pass; throws one that will not. */
  async #attempt<Data>(
    method: string,
    path: string,
    options: Options & { readSeconds: number },
    repeats: number,
  ): Promise<Omit<Result<Data>, "mayHaveRun"> | ApiError | ConnectionFailed> {
    // what is wrong here stays wrong, so it throws as it is
    const address = this.#address(path, options);
    const headers = this.#headers(options);
    const body = options.body === undefined ? null : writeJson(options.body);
    let response: Response;
    let text: string;
    try {
      const signal = AbortSignal.timeout(Math.ceil(options.readSeconds * 1000));
      response = await fetch(address, { method, headers, body, redirect: "manual", signal });
      text = await response.text();
    } catch (error) {
      const failure = new ConnectionFailed(`${this.url}: ${describe(error)}`, { cause: error });
      if (failure.mayPass) return failure;
      throw failure;
    }
    const read = readBody<Data>(response, text);
    if (!(read instanceof ApiError)) return { data: read.data, headers: response.headers };
    read.repeats = repeats;
    if (mayPass(read)) return read;
    throw read;
  }

  /** Opens a stream of events, once. Throws ApiError, ConnectionFailed. */
  async open(path: string, lastId: string, signal: AbortSignal): Promise<Response> {
    const headers = this.#headers({});
    headers.set("Accept", "text/event-stream");
    if (lastId) headers.set("Last-Event-ID", lastId);
    let response: Response;
    try {
      response = await fetch(`${this.url}${path}`, { headers, redirect: "manual", signal });
      const kind = response.headers.get("Content-Type") ?? "";
      if (response.ok && kind.startsWith("text/event-stream")) return response;
      const read = readBody(response, await response.text());
      if (read instanceof ApiError) throw read;
      throw new ConnectionFailed(`${this.url}: ${kind} is no stream of events`);
    } catch (error) {
      if (error instanceof ReviewLoopError) throw error;
      throw new ConnectionFailed(`${this.url}: ${describe(error)}`, { cause: error });
    }
  }

  #address(path: string, options: Options): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) query.set(name, String(value));
    }
    return `${this.url}${path}${query.size ? `?${query}` : ""}`;
  }

  #headers(options: Options): Headers {
    const headers = new Headers({
      Accept: "application/json",
      Authorization: `Bearer ${this.#key}`,
    });
    if (options.body !== undefined) headers.set("Content-Type", "application/json");
    if (options.idempotencyKey) headers.set("Idempotency-Key", options.idempotencyKey);
    if (options.traceparent) headers.set("traceparent", options.traceparent);
    return headers;
  }
}

/** Tells whether a repeated call may succeed. */
export function mayPass(failure: ReviewLoopError): boolean {
  if (failure instanceof ConnectionFailed) return failure.mayPass;
  if (!(failure instanceof ApiError) || failure instanceof ReceiptConflict) return false;
  return PASSING.includes(failure.status) || failure.status >= 500;
}

function readBody<Data>(response: Response, text: string): { data: Data } | ApiError {
  const retryAfter = readRetryAfter(response.headers.get("Retry-After"));
  const body = parse(text);
  if (body === null) {
    // a success that is not the API's comes from something in between, perhaps for a moment
    const target = response.headers.get("Location");
    const sentence = target ? `Redirected to ${target}` : response.statusText || "Not JSON";
    const status = response.ok ? 502 : response.status;
    return new (errorClass(status))(status, sentence, {}, retryAfter);
  }
  if (response.ok && !body.error) return { data: body.data as Data };
  const { msg, data } = body;
  return new (errorClass(response.status, data))(response.status, msg, data, retryAfter);
}

function parse(text: string): { error: boolean; msg: string; data: unknown } | null {
  try {
    const body = JSON.parse(text);
    return typeof body?.msg === "string" && "data" in body ? body : null;
  } catch {
    return null;
  }
}

/** Reads seconds or a date; null if there is neither. */
function readRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header);
  const moment = Date.parse(header);
  return Number.isNaN(moment) ? null : Math.max(0, (moment - Date.now()) / 1000);
}

/** Returns the seconds to the next attempt: what the API says, else twice as long each time. */
export function choosePause(failure: ReviewLoopError, repeats: number): number {
  const spread = 0.5 + Math.random() / 2;
  const growing = Math.min(FIRST_PAUSE * 2 ** repeats, MAX_PAUSE) * spread;
  const named = failure instanceof ApiError ? failure.retryAfter : null;
  return named === null ? growing : Math.max(growing, named + spread * FIRST_PAUSE);
}

export function describe(error: unknown): string {
  const cause = (error as { cause?: { message?: string } }).cause?.message;
  return cause || String((error as Error).message ?? error);
}

function sleep(seconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, seconds * 1000));
}
