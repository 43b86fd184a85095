// The JSON objects of the API, from its OpenAPI document (schema.ts).

import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** A loop in a list. */
export type Loop = Schemas["Loop"];
/** A loop as a single read returns it, with its join link. */
export type OwnLoop = Schemas["OwnLoop"];
export type Member = Schemas["Member"];
export type LoopInput = Schemas["LoopInput"];
export type LoopChanges = Schemas["LoopChanges"];
/** An endpoint of the account; no `loop_ids` are all loops. */
export type WebhookEndpoint = Schemas["Endpoint"];
export type WebhookEndpointInput = Schemas["EndpointInput"];
export type WebhookEndpointChanges = Schemas["EndpointChanges"];
/** An endpoint with its new secret, which no other call returns. */
export type SecretEndpoint = WebhookEndpoint & { secret: string };
/** A request in a list. */
export type ListedRequest = Schemas["RequestListed"];
/** A request as a single read returns it. */
export type Request = Schemas["RequestDetail"];
export type NewRequest = Schemas["NewRequest"];
export type ResponseType = Schemas["ResponseType"];
export type Priority = Schemas["Priority"];
export type Feedback = Schemas["FeedbackFields"];
/** The body of a webhook. */
export type Event = Schemas["Event"];
/** The answer of an approval. Only `approve` and `edit` have `arguments` and `edited`. */
export type Decision = Schemas["Decision"];
/** An answer: text, the value of an option, a number, a list of values, or an object. */
export type Value = string | number | string[] | { [name: string]: unknown };
