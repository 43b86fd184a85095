// Verifies the receipt of an approval, without calling the service. Uses WebCrypto.

import { InvalidReceipt } from "./errors.js";
import { writeJson } from "./json.js";

const TYPE = "approval-receipt+jwt";

/** The signed receipt of an approval. */
export interface Receipt {
  request_id: string;
  receipt: string;
  expires_at: string;
  redeemed_at: string | null;
}

/** What a receipt states. `iat` and `exp` are Unix seconds, digests SHA-256 in hexadecimal. */
export interface ReceiptClaims {
  iss: string;
  /** The request's id. */
  sub: string;
  jti: string;
  iat: number;
  exp: number;
  loop_id: string;
  name: string;
  action: "approve" | "edit";
  arguments_sha256: string;
  question_sha256: string;
  answered_by: { id: string; name: string }[];
  answered_at: string;
  policy: Record<string, unknown>;
}

type Jwk = JsonWebKey & { kid?: string };

/** Skips the check of the arguments. */
export const ANY_ARGUMENTS: unique symbol = Symbol("ANY_ARGUMENTS");

export interface VerifyReceipt {
  /** The pinned public keys: a JWK, several, or the JWK Set of /.well-known/jwks.json. */
  keys: Jwk | readonly Jwk[] | { keys: readonly Jwk[] };
  /** The address of the service (SITE_URL). */
  issuer: string;
  /** What you are about to run; ANY_ARGUMENTS skips the check, and null fits no receipt. */
  arguments: Record<string, unknown> | typeof ANY_ARGUMENTS;
  /** The name of what you are about to run, the loop and the request that you expect. A check that is
   * there and undefined fails. */
  name?: string;
  loopId?: string;
  requestId?: string;
  /** Seconds by which the clocks may differ. */
  leeway?: number;
  /** Unix seconds. */
  now?: number;
}

const CHECKS = [["name", "name"], ["loopId", "loop_id"], ["requestId", "sub"]] as const;

/**
 * Returns what a receipt states, if one of your pinned keys signed it and it is still valid. Throws
 * InvalidReceipt.
 */
export async function verifyReceipt(token: string, options: VerifyReceipt): Promise<ReceiptClaims> {
  const { issuer, leeway = 60, now = Date.now() / 1000 } = options;
  if (!issuer) throw new InvalidReceipt("the issuer is missing: it is the address of the service");
  const [head, body, signature, ...more] = token.split(".");
  if (!head || !body || !signature || more.length) throw new InvalidReceipt("this is no token");
  const header = readJson<{ alg?: unknown; typ?: unknown; kid?: unknown }>(head);
  if (header.alg !== "EdDSA" || header.typ !== TYPE) {
    throw new InvalidReceipt(`the token is no receipt: it must be a ${TYPE} with EdDSA`);
  }
  const key = await loadKey(options.keys, header.kid);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await crypto.subtle.verify("Ed25519", key, fromBase64Url(signature), signed))) {
    throw new InvalidReceipt("the signature of the receipt is wrong");
  }
  const claims = readJson<ReceiptClaims>(body);
  if (claims.iss !== issuer) throw new InvalidReceipt(`the receipt is not from ${issuer}`);
  if (!(claims.exp > now - leeway)) throw new InvalidReceipt("the receipt has expired");
  if (!(claims.iat <= now + leeway)) throw new InvalidReceipt("the receipt is from the future");
  for (const [option, claim] of CHECKS) {
    if (option in options && options[option] !== claims[claim]) {
      throw new InvalidReceipt(`the receipt has another ${claim}: ${claims[claim]}`);
    }
  }
  const args = options.arguments;
  if (args !== ANY_ARGUMENTS && (await digest(args)) !== claims.arguments_sha256) {
    throw new InvalidReceipt("the receipt is for other arguments");
  }
  return claims;
}

async function loadKey(keys: VerifyReceipt["keys"], kid: unknown): Promise<CryptoKey> {
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: chooseKey(keys, kid).x! };
    return await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["verify"]);
  } catch (error) {
    if (error instanceof InvalidReceipt) throw error;
    throw new InvalidReceipt(`the pinned keys are no JWKs: ${error}`);
  }
}

function chooseKey(keys: VerifyReceipt["keys"], kid: unknown): Jwk {
  const pinned = isList(keys) ? keys : "keys" in keys ? keys.keys : [keys];
  const found = pinned.find((key) => key.crv === "Ed25519" && (key.kid ?? kid) === kid);
  if (!found) throw new InvalidReceipt("none of these keys signed the receipt");
  return found;
}

function isList(keys: VerifyReceipt["keys"]): keys is readonly Jwk[] {
  return Array.isArray(keys);
}

/** The SHA-256 of the form of RFC 8785, in hexadecimal. */
async function digest(args: Record<string, unknown>): Promise<string> {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new InvalidReceipt("there are no arguments: nobody approved, or ANY_ARGUMENTS is meant");
  }
  const form = canonicalize(JSON.parse(writeArguments(args)));
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(form));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Writes JSON, like what is sent to be redeemed. */
function writeArguments(args: Record<string, unknown>): string {
  try {
    return writeJson(args);
  } catch (error) {
    throw new InvalidReceipt(`the arguments are no JSON: ${error}`);
  }
}

/** Writes JSON in the form of RFC 8785, which is that of JSON.stringify with sorted names. */
function canonicalize(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalize).join()}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${entries.map((entry) => entry.map(canonicalize).join(":")).join()}}`;
  }
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new InvalidReceipt("the arguments have a number beyond 2^53");
  }
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new InvalidReceipt("the arguments have a lone surrogate");
  }
  return JSON.stringify(value);
}

function readJson<Value>(part: string): Value {
  try {
    const value = JSON.parse(new TextDecoder().decode(fromBase64Url(part)));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // no JSON
  }
  throw new InvalidReceipt("this is no token");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  try {
    const plain = text.replaceAll("-", "+").replaceAll("_", "/");
    return Uint8Array.from(atob(plain), (char) => char.charCodeAt(0));
  } catch {
    throw new InvalidReceipt("this is no token");
  }
}
