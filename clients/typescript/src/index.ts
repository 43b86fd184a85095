// Asks people for a decision through Review Loop, and gets their answer.

export { Client, type Answer, type AskOptions, type RequestFilters } from "./client.js";
export * from "./errors.js";
export type { EventOptions, StreamEvent } from "./events.js";
export { ANY_ARGUMENTS, verifyReceipt, type Receipt, type ReceiptClaims, type VerifyReceipt } from "./receipts.js";
export { MemoryStore, type Store } from "./store.js";
export type { Settings } from "./transport.js";
export type * from "./types.js";
export * as webhooks from "./webhooks.js";
