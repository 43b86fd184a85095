// Verifies that an event comes from the service, and returns it. Uses WebCrypto.

import { InvalidSignature } from "./errors.js";
import type { Event } from "./types.js";

export interface VerifyOptions {
  /** How many seconds an event may be old. */
  tolerance?: number;
  /** Unix seconds. */
  now?: number;
}

/** The raw bytes of a request, in any of the shapes that frameworks hand them over. */
export type RawBody = string | ArrayBuffer | SharedArrayBuffer | ArrayBufferView;
type HeadersLike = Headers | Record<string, string | string[] | undefined>;
/** The account's webhook secret; during a rotation a receiver may know both. */
export type Secrets = string | readonly string[];

/**
 * Returns the event if one of its Standard Webhooks signatures is right and it is recent.
 * `body` are the raw bytes. Throws InvalidSignature, and TypeError for a body that was parsed already.
 */
export async function verify(
  body: RawBody,
  headers: HeadersLike,
  secret: Secrets,
  { tolerance = 300, now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<Event> {
  const timestamp = read(headers, "webhook-timestamp");
  if (!/^[0-9]{1,12}$/.test(timestamp)) {
    throw new InvalidSignature("webhook-timestamp is missing or no number");
  }
  if (Math.abs(now - Number(timestamp)) > tolerance) {
    throw new InvalidSignature(`webhook-timestamp is more than ${tolerance} s away`);
  }
  const bytes = toBytes(body);
  const start = toBytes(`${read(headers, "webhook-id")}.${timestamp}.`);
  const sent = read(headers, "webhook-signature").split(" ");
  const signatures = sent.filter((one) => one.startsWith("v1,")).map((one) => fromBase64(one.slice(3)));
  return check(bytes, joined(start, bytes), list(secret).map(standardKey), signatures);
}

/**
 * Returns the event if X-Service-Signature-256 is right. It signs the body alone, so it does not
 * protect against replays: prefer `verify`. Throws InvalidSignature, and TypeError for a body that
 * was parsed already.
 */
export async function verifyBody(
  body: RawBody,
  headers: HeadersLike,
  secret: Secrets,
): Promise<Event> {
  const bytes = toBytes(body);
  const header = read(headers, "x-service-signature-256");
  const hex = /^sha256=([0-9a-f]{64})$/.exec(header)?.[1] ?? "";
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  return check(bytes, bytes, list(secret).map(toBytes), [signature]);
}

async function check(
  body: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
  keys: Uint8Array<ArrayBuffer>[],
  signatures: (Uint8Array<ArrayBuffer> | null)[],
): Promise<Event> {
  for (const bytes of keys) {
    const hash = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes, hash, false, ["verify"]);
    for (const signature of signatures) {
      // WebCrypto compares in constant time
      if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
        return JSON.parse(new TextDecoder().decode(body)) as Event;
      }
    }
  }
  throw new InvalidSignature("No signature of this event is right");
}

function read(headers: HeadersLike, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  for (const [each, value] of Object.entries(headers)) {
    if (each.toLowerCase() === name) return (Array.isArray(value) ? value[0] : value) ?? "";
  }
  return "";
}

function list(secret: Secrets): string[] {
  const secrets = typeof secret === "string" ? [secret] : [...secret];
  if (!secrets.length || !secrets.every(Boolean)) throw new TypeError("a webhook secret is empty");
  return secrets;
}

/** An issued secret is base64, one that you set is its own bytes. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  if (!secret.startsWith("whsec_")) return toBytes(secret);
  const key = fromBase64(secret.slice("whsec_".length));
  if (!key) throw new TypeError("the webhook secret begins with whsec_ but is not base64");
  if (!key.length) throw new TypeError("the webhook secret has nothing after whsec_");
  return key;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function toBytes(value: RawBody): Uint8Array<ArrayBuffer> {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  }
  if (isBuffer(value)) return new Uint8Array(value).slice();
  throw new TypeError(
    "body must be the raw bytes or text of the request, not a parsed object: read it before JSON.parse",
  );
}

/** Also of another realm, as in test runners. */
function isBuffer(value: unknown): value is ArrayBufferLike {
  const name = Object.prototype.toString.call(value);
  return name === "[object ArrayBuffer]" || name === "[object SharedArrayBuffer]";
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
