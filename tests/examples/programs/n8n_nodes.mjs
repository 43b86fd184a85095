// Follows examples/n8n/approved_refunds.json for one event as n8n does, as far as its expressions go, and
// prints the call that the node Redeem makes and what the last node gets. n8n itself is not run.

import { readFileSync } from "node:fs";

const { nodes } = JSON.parse(readFileSync(process.env.WORKFLOW, "utf8"));
const find = (name) => nodes.find((node) => node.name === name).parameters;
const outputs = {};
const $ = (name) => ({ item: { json: outputs[name] } });
const $execution = { id: "7" };

/** Evaluates a parameter: text with expressions in {{ }}, or one expression alone. */
function read(text, $json) {
  if (typeof text !== "string" || !text.startsWith("=")) return text;
  const run = (code) => new Function("$json", "$", "$execution", `return (${code})`)($json, $, $execution);
  const parts = text.slice(1).split(/\{\{(.*?)\}\}/s);
  if (parts.length === 3 && !parts[0] && !parts[2]) return run(parts[1]);
  return parts.map((part, place) => (place % 2 ? run(part) : part)).join("");
}

const event = { body: JSON.parse(process.env.EVENT) };
const settings = find("Settings").assignments.assignments.map(({ name, value }) => [name, value]);
const $json = { ...event, ...Object.fromEntries(settings), url: process.env.REVIEW_LOOP_URL };
outputs.Settings = outputs.Approved = $json;
const isApproved = find("Approved").conditions.conditions.every(
  ({ leftValue, rightValue }) => read(leftValue, $json) === read(rightValue, $json),
);
const redeem = find("Redeem");
const call = isApproved && {
  method: redeem.method,
  url: read(redeem.url, $json),
  headers: Object.fromEntries(
    redeem.headerParameters.parameters.map(({ name, value }) => [name, read(value, $json)]),
  ),
  body: JSON.parse(read(redeem.jsonBody, $json)),
};
const last = isApproved && JSON.parse(read(find("Refund").jsonOutput, {}));
console.log(JSON.stringify({ call, last }));
