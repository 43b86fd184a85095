/** Writes JSON. NaN and Infinity would become null: throws RangeError. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (typeof part === "number" && !Number.isFinite(part)) {
      throw new RangeError(`JSON has no number ${part}`);
    }
    return part;
  });
}
