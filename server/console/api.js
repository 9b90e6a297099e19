// The server's API. The token is in this module's memory, and in nothing that outlives the page.

const WAIT_MS = 30_000;
const LONGEST_MS = 600_000;  // of an export

let token = "";
export function setToken(text) {
  token = text.trim();
}
export const hasToken = () => token !== "";

/** What the server refused, in its words; or that it is away (status 0). */
export class Refused extends Error {
  constructor(status, code, message, field = "") {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
  }
}

async function ask(method, path, body, wait) {
  const headers = {};
  if (token) headers.Authorization = "Bearer " + token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, {method, headers, cache: "no-store", credentials: "omit",
      redirect: "error", signal: AbortSignal.timeout(wait),
      body: body === undefined ? undefined : JSON.stringify(body)});
  } catch {
    throw new Refused(0, "unavailable", "the server does not answer");
  }
  if (answer.ok) return answer;
  let told = {};
  try {
    told = (await answer.json()).error || {};
  } catch {
    // No JSON: the status says it.
  }
  if (answer.status === 401) {
    const why = token ? "the server does not know this token, or it has expired" : "the server asks for a token";
    dispatchEvent(new Event("tokenwanted"));
    throw new Refused(401, told.code || "unauthorized", why + ": type one at the top of the page");
  }
  throw new Refused(answer.status, told.code || "refused", told.message || "no reason was given", told.field);
}

async function read(answer) {
  try {
    return await answer.text();
  } catch {
    throw new Refused(0, "unavailable", "the answer broke off");
  }
}

// A double has no other integers than these: longer ones stay text.
const LONG = /([[:,]\s*)(\d{16,20})(?=\s*[,}\]])/g;

/** JSON whose long integers come as text. */
export function parse(text) {
  let at = 0, out = "";
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"/g)) {  // strings stay as they are
    out += text.slice(at, match.index).replace(LONG, '$1"$2"') + match[0];
    at = match.index + match[0].length;
  }
  return JSON.parse(out + text.slice(at).replace(LONG, '$1"$2"'));
}

export async function call(method, path, body) {
  return parse(await read(await ask(method, path, body, WAIT_MS)));
}

export async function text(path, wait = LONGEST_MS) {
  return read(await ask("GET", path, undefined, wait));
}

export const user = (name, rest = "") => "/users/" + encodeURIComponent(name) + rest;

/** The collections that the token reaches. */
export async function collections() {
  return (await call("GET", "/collections")).collections;
}
