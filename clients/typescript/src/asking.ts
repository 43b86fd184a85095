// Asks a question that outlives the asking process.
//
// The question is in the store before the create is sent, with its Idempotency-Key. So wherever a
// process dies, the next one either sends the same create again, which is the same request for the
// service, or knows the request's id, or has the answer.

import type { Client } from "./client.js";
import { newKey } from "./client.js";
import { ApiError, KeyReused, ResumeConflict } from "./errors.js";
import type { Entry, Store } from "./store.js";
import type { NewRequest, Request } from "./types.js";

const REPLAYED = 23 * 3600_000; // ms; the service knows a key for 24 hours
const SKEW = 3600_000; // ms, how far the clocks may differ
const VERSION = 1;
// The fields that identify a question. The others may differ between starts.
const IDENTITY = [
  "request_text",
  "response_type",
  "response_config",
  "default_response",
  "image_url",
] as const;

/** Asks, and waits until the request has ended. */
export async function askOnce(
  client: Client,
  body: NewRequest,
  loop?: string,
  traceparent?: string,
): Promise<Request> {
  const found = await client.loops.find(loop);
  const { request_id } = await client.requests.create(found.id, body, newKey(), traceparent);
  return client.requests.wait(request_id);
}

/** Asks unless the question of this name is already asked; waits for its end. */
export async function askResumably(
  client: Client,
  body: NewRequest,
  loop: string | null,
  { name, store }: { name: string; store: Store },
  traceparent?: string,
): Promise<Request> {
  if (!name) throw new TypeError("the name of resume is empty");
  const account = (await client.check()).user_id;
  const place = new Place(store, `${client.url} ${account} ${name}`);
  let entry = await place.load();
  const isNew = entry === null;
  entry ??= await place.save(await begin(client, body, loop, name));
  if (!isSame(entry, body, loop)) throw conflict(name, entry.body.request_text);
  if (entry.request) return entry.request;
  let requestId = entry.requestId;
  if (requestId === null) {
    requestId = await send(client, place, entry, name, isNew, traceparent);
    entry = await place.save({ ...entry, requestId });
  }
  const request = await client.requests.wait(requestId);
  await place.save({ ...entry, request });
  return request;
}

/** A question's place in the store. */
class Place {
  constructor(
    readonly store: Store,
    readonly name: string,
  ) {}

  async load(): Promise<Entry | null> {
    const text = await this.store.get(this.name);
    if (text === null) return null;
    const { version, ...entry } = JSON.parse(text);
    if (version !== VERSION) throw new ResumeConflict("The store is of another version");
    return entry as Entry;
  }

  async save(entry: Entry): Promise<Entry> {
    await this.store.set(this.name, JSON.stringify({ version: VERSION, ...entry }));
    return entry;
  }
}

async function begin(
  client: Client,
  body: NewRequest,
  loop: string | null,
  name: string,
): Promise<Entry> {
  const loopId = (await client.loops.find(loop ?? undefined)).id;
  const idempotencyKey = `ask-${(await digest(name)).slice(0, 40)}`;
  const marked = { ...body, platform_version: `reviewloop-typescript; ${idempotencyKey}` };
  const begunAt = Date.now();
  return { loop, loopId, body: marked, idempotencyKey, begunAt, requestId: null, request: null };
}

/** Sends the stored create and returns the request's id. */
async function send(
  client: Client,
  place: Place,
  entry: Entry,
  name: string,
  isNew: boolean,
  traceparent?: string,
): Promise<string> {
  if (Date.now() - entry.begunAt > REPLAYED) {
    const found = await findAgain(client, entry);
    if (found) return found;
  }
  try {
    const { loopId, body, idempotencyKey } = entry;
    return (await client.requests.create(loopId, body, idempotencyKey, traceparent)).request_id;
  } catch (error) {
    // no request exists, so the name is free
    if (isRefused(error, isNew)) await place.store.delete(place.name);
    throw error instanceof KeyReused ? conflict(name) : error;
  }
}

/** Tells whether the refusal proves that no request with this key exists. */
function isRefused(error: unknown, isNew: boolean): boolean {
  if (!(error instanceof ApiError) || error.status >= 500) return false;
  if ([408, 409, 429].includes(error.status)) return false;
  return (isNew && !error.repeats) || ![401, 403].includes(error.status);
}

/** Finds the request of a create whose answer was lost more than a day ago. */
async function findAgain(client: Client, entry: Entry): Promise<string | null> {
  const filters = { loop_id: entry.loopId, sort: "created_at_desc" } as const;
  for await (const listed of client.requests.list(filters)) {
    if (Date.parse(listed.created_at) < entry.begunAt - SKEW) return null;
    if (listed.request_text !== entry.body.request_text) continue;
    const request = await client.requests.get(listed.id);
    if (request.platform_version === entry.body.platform_version) return listed.id;
  }
  return null;
}

function isSame(entry: Entry, body: NewRequest, loop: string | null): boolean {
  const identity = (one: NewRequest) => JSON.stringify(IDENTITY.map((field) => one[field] ?? null));
  return entry.loop === loop && identity(entry.body) === identity(body);
}

function conflict(name: string, question?: string): ResumeConflict {
  const which = question === undefined ? "" : `: "${question}"`;
  return new ResumeConflict(`"${name}" belongs to another question${which}. Use another name.`);
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
