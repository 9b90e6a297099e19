import {randomUUID} from "node:crypto";

import {Answer} from "./caller.js";
import {SeenDBError} from "./errors.js";

const BIG = randomUUID(); // begins a text that stands for a bigint; no text of others has it

/** JSON with bigints as numbers. */
export function exactJson(value: unknown): string {
  const text = JSON.stringify(value, (_, one) => (typeof one === "bigint" ? BIG + one : one));
  return text.replaceAll(new RegExp(`"${BIG}(-?\\d+)"`, "g"), "$1");
}

/** JSON whose whole numbers of 2^53 and more are bigints. */
export function parseExact(text: string): unknown {
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (one) =>
    (/^-?\d{16,}$/.test(one) && !Number.isSafeInteger(Number(one)) ? `"${BIG}${one}"` : one));
  return JSON.parse(marked, (_, one) => (typeof one === "string" && one.startsWith(BIG) ? BigInt(one.slice(BIG.length)) : one));
}

/** The answer's JSON: an object with the members that are needed, where any are. */
export function json(answer: Answer, ...needs: string[]): unknown {
  return parsed(answer, JSON.parse, needs);
}

export function parsed(answer: Answer, parse: (text: string) => unknown, needs: string[]): unknown {
  try {
    const told: unknown = parse(answer.body.toString());
    if (needs.every((name) => Object.hasOwn(Object(told), name))) return told;
  } catch {
    // no JSON
  }
  throw new SeenDBError("protocol", "the answer is not the JSON that was asked for: " + answer.body.toString().slice(0, 100), "", answer.status);
}
