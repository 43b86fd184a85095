// Reads, redeems and verifies receipts as a program would. The scenario is JSON in SCENARIO; prints
// JSON. The library jose verifies too: it knows neither the service nor this package.

import { createLocalJWKSet, jwtVerify } from "jose";
import { ANY_ARGUMENTS, AlreadyRedeemed, ArgumentsDiffer, Client, verifyReceipt } from "reviewloop";

const scenario = JSON.parse(process.env.SCENARIO ?? "{}");

async function redeem() {
  const client = new Client({ url: process.env.URL!, key: process.env.KEY!, patience: 30 });
  const { id, keys, issuer } = scenario;
  const before = await client.requests.receipt(id);
  const claims = await verifyReceipt(before.receipt, { keys, issuer, arguments: scenario.arguments });
  const independent = await jwtVerify(before.receipt, createLocalJWKSet(keys), {
    issuer,
    algorithms: ["EdDSA"],
    typ: "approval-receipt+jwt",
  });
  const differs = await client.requests.redeem(id, {}).catch((error) => error);
  const other = await client.requests
    .redeem(id, scenario.arguments, { name: "delete_everything" })
    .catch((error) => error);
  const infinite = { ...scenario.arguments, amount: 1 / 0 };
  const noNumber = await client.requests.redeem(id, infinite).catch((error) => error);
  const own = { name: "refund", idempotencyKey: "refund-1042" };
  const redeemed = await client.requests.redeem(id, scenario.arguments, own);
  const replay = await client.requests.redeem(id, scenario.arguments, own).catch((error) => error);
  const again = await client.requests.redeem(id, scenario.arguments).catch((error) => error);
  return {
    claims,
    independent: independent.payload,
    path: differs instanceof ArgumentsDiffer && differs.path,
    otherPath: other instanceof ArgumentsDiffer && other.path,
    noNumber: String(noNumber),
    isSame: redeemed.receipt === before.receipt,
    redeemedAt: redeemed.redeemed_at,
    replay: replay instanceof AlreadyRedeemed && replay.redeemedAt,
    again: again instanceof AlreadyRedeemed && again.redeemedAt,
  };
}

/** Returns the name of the error of each token, or its subject. */
async function verify() {
  const results: string[] = [];
  for (const { token, keys, args, more } of scenario.tokens) {
    const known: Record<string, unknown> = {
      any: ANY_ARGUMENTS,
      undefined: undefined,
      NaN: { amount: NaN },
      Infinity: { lines: [-Infinity] },
    };
    const given = typeof args === "string" ? known[args] : args;
    const options = { keys, issuer: scenario.issuer, arguments: given, ...more };
    const verified = verifyReceipt(token, options);
    results.push(await verified.then((claims) => claims.sub, (error) => error.name));
  }
  return results;
}

const scenarios: Record<string, () => Promise<unknown>> = { redeem, verify };
console.log(JSON.stringify(await scenarios[scenario.name]!()));
