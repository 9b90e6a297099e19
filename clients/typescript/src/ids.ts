import {refuse} from "./errors.js";

/**
 * A user or an item: text of 1-255 bytes of UTF-8, or an integer of 64 bits as a bigint. "42" and 42n are one id. A number
 * is an error: beyond 2^53 it would be another than it seems.
 */
export type Id = string | bigint;

const BYTES_MOST = 255;
const NUMBER_MOST = 2n ** 64n - 1n;

/** The id; throws for what is none, whatever TypeScript was told. */
export function check(value: Id, field: string): Id {
  const given: unknown = value;
  if (typeof given === "bigint") {
    if (given < 0n || given > NUMBER_MOST) throw refuse(field, "an id is within 0..2^64-1, not " + given);
    return given;
  }
  if (typeof given === "number") throw refuse(field, "an id is a string or a bigint: numbers end at 2^53; write " + given + "n");
  if (typeof given !== "string") throw refuse(field, "an id is a string or a bigint, not " + typeof given);
  const size = Buffer.byteLength(given);
  if (size < 1 || size > BYTES_MOST) throw refuse(field, "an id has 1 to " + BYTES_MOST + " bytes of UTF-8, not " + size);
  if (/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(given)) throw refuse(field, "an id is not UTF-8");
  return given;
}

export function checkAll(values: readonly Id[], field: string): readonly Id[] {
  values.forEach((value, at) => check(value, field + "/" + at));
  return values;
}

/** Integers alone as 8 bytes each, little-endian; null where one is text. */
export function packed(...lists: (readonly Id[])[]): Buffer | null {
  const count = lists.reduce((sum, list) => sum + list.length, 0);
  const bytes = Buffer.alloc(8 * count);
  let at = 0;
  for (const list of lists) {
    for (const id of list) {
      if (typeof id !== "bigint") return null;
      bytes.writeBigUInt64LE(id, at);
      at += 8;
    }
  }
  return bytes;
}

/** JSON with ids as the server reads them: a bigint as text, which is the same id. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === "bigint" ? one.toString() : one));
}
