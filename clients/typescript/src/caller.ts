import {readFileSync, statSync} from "node:fs";
import * as http from "node:http";
import * as https from "node:https";

import {SeenDBError} from "./errors.js";
import {LastUsers, Placement} from "./routing.js";

export interface Options {
  /** A bearer token; or a file whose first line it is, read again when it changes. */
  token?: string;
  tokenFile?: string;
  /** A file of certificates to trust (the system's without); the caller's own certificate and key. */
  ca?: string;
  certificate?: string;
  key?: string;
  /** ms for a whole call, second tries included; told to the server. */
  timeout?: number;
  /** Second tries of what may be repeated; one for ten calls at most. */
  retries?: number;
  /** Per server. */
  connections?: number;
  /** The URLs are nodes of one cluster: a question goes to the node that has its user. */
  cluster?: boolean;
  /** Called after each call; status 0: no answer. */
  onCall?: (name: string, ms: number, status: number, tries: number) => void;
}

export interface Call {
  name?: string;
  method: string;
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Buffer | string;
  contentType?: string;
  user?: string;
  timeout?: number;
  /** It may not be made twice. */
  once?: boolean;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

const PLACEMENT_MS = 30_000;
const LATER_MS = 50; // the server ends the wait, and the connection stays usable
const BODY_MOST = 1 << 30;
const SHARE = 0.1, MOST = 10;

/** What all calls of a client share: connections, second tries, tokens, positions. */
export class Caller {
  readonly positions = new LastUsers<string>();
  readonly timeout: number;
  private readonly urls: string[];
  private readonly agents = new Map<string, http.Agent>();
  private budget = MOST;
  private turn = 0;
  private placement: Placement | null = null;
  private placementUntil = 0;
  private token: string | undefined;
  private tokenSeen = -1;
  private closed = false;

  constructor(urls: string | string[], private readonly options: Options) {
    this.urls = typeof urls === "string" ? [urls] : [...urls];
    if (this.urls.length === 0) throw new TypeError("no server is named");
    for (const url of this.urls) {
      if (!/^(https?:\/\/[^/]+\/?|unix:.+)$/.test(url)) throw new TypeError(url + " is no http://host:port, https://host:port or unix:/path");
    }
    this.timeout = options.timeout ?? 1_000;
    this.token = options.token;
  }

  close(): void {
    this.closed = true;
    for (const agent of this.agents.values()) agent.destroy();
  }

  private agentOf(url: string): http.Agent {
    let agent = this.agents.get(url);
    if (agent === undefined) {
      const common = {keepAlive: true, maxSockets: this.options.connections ?? 16, timeout: 50_000};
      const read = (path?: string) => (path === undefined ? undefined : readFileSync(path));
      agent = url.startsWith("https:")
        ? new https.Agent({...common, ca: read(this.options.ca), cert: read(this.options.certificate), key: read(this.options.key ?? this.options.certificate)})
        : new http.Agent(common);
      this.agents.set(url, agent);
    }
    return agent;
  }

  private authorization(): string | undefined {
    if (this.options.tokenFile !== undefined) {
      const changed = statSync(this.options.tokenFile).mtimeMs;
      if (changed !== this.tokenSeen) {
        this.token = readFileSync(this.options.tokenFile, "latin1").split("\n")[0]!.trim();
        this.tokenSeen = changed;
      }
    }
    return this.token;
  }

  private where(user?: string): [string[], boolean] {
    const own = user === undefined ? [] : this.placement?.urlsOf(user) ?? [];
    if (own.length > 0) return [own, true];
    const first = this.turn++ % this.urls.length;
    return [[...this.urls.slice(first), ...this.urls.slice(0, first)], false];
  }

  private async learn(deadline: number): Promise<void> {
    if (!this.options.cluster || Date.now() < this.placementUntil) return;
    this.placementUntil = Date.now() + PLACEMENT_MS;
    try {
      const answer = await this.once(this.where()[0][0]!, {method: "GET", path: "/cluster"}, {}, deadline);
      if (answer.status === 200) this.placement = new Placement(JSON.parse(answer.body.toString()));
    } catch {
      this.placementUntil = Date.now() + 1_000; // the former one goes on
    }
  }

  /** One try; a connection that was closed while it was idle is opened anew. */
  private async once(url: string, call: Call, headers: Record<string, string>, deadline: number): Promise<Answer> {
    try {
      return await this.exchange(url, call, headers, deadline);
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      return this.exchange(url, call, headers, deadline).catch((again) => {
        throw again instanceof Stale ? new SeenDBError("unavailable", again.message) : again;
      });
    }
  }

  private exchange(url: string, call: Call, headers: Record<string, string>, deadline: number): Promise<Answer> {
    const left = deadline - Date.now();
    if (left < 1) return Promise.reject(new SeenDBError("timeout", "no answer in time"));
    const sent: Record<string, string | number> = {...headers, "SeenDB-Timeout-Ms": String(Math.ceil(left))};
    const token = this.authorization();
    if (token) sent.Authorization = "Bearer " + token;
    if (call.contentType !== undefined) sent["Content-Type"] = call.contentType;
    const body = typeof call.body === "string" ? Buffer.from(call.body) : call.body;
    if (body !== undefined || call.method !== "GET") sent["Content-Length"] = body?.length ?? 0;
    const unix = url.startsWith("unix:");
    const at = new URL(unix ? "http://localhost" : url);
    const query = call.query === undefined ? "" : "?" + Object.entries(call.query).map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&");
    return new Promise((resolve, reject) => {
      const request = (at.protocol === "https:" ? https : http).request({
        agent: this.agentOf(url), method: call.method, path: call.path + query, headers: sent,
        ...(unix ? {socketPath: url.slice(5)} : {host: at.hostname.replace(/^\[|\]$/g, ""), port: at.port || 7373}),
      });
      let begun = false;
      const timer = setTimeout(() => {
        reject(new SeenDBError("timeout", "no answer in time"));
        request.destroy();
      }, left + LATER_MS);
      const fail = (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        if (request.reusedSocket && !begun && (error.code === "ECONNRESET" || error.code === "EPIPE")) return reject(new Stale(error.message));
        const lied = error.code?.startsWith("HPE_") === true && error.code !== "HPE_INVALID_EOF_STATE";
        reject(new SeenDBError(lied ? "protocol" : "unavailable", error.message));
      };
      request.on("error", fail);
      request.on("response", (response) => {
        begun = true;
        const parts: Buffer[] = [];
        let size = 0;
        response.on("data", (part: Buffer) => {
          parts.push(part);
          size += part.length;
          if (size > BODY_MOST) request.destroy(new Error("a body without an end"));
        });
        response.on("error", fail);
        response.on("aborted", () => fail(new Error("the connection ended amid the answer")));
        response.on("end", () => {
          clearTimeout(timer);
          if (response.complete) resolve({status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts)});
        });
      });
      request.end(body);
    });
  }

  /** The answer of 2xx or 422, with second tries where they are allowed. */
  async ask(call: Call): Promise<Answer> {
    if (this.closed) throw new SeenDBError("closed", "the client is closed");
    const began = Date.now();
    const deadline = began + (call.timeout ?? this.timeout);
    const headers: Record<string, string> = {...call.headers};
    const position = call.user === undefined ? undefined : this.positions.get(call.user);
    if (position !== undefined) headers["SeenDB-Position"] = position;
    await this.learn(deadline);
    this.budget = Math.min(MOST, this.budget + SHARE);
    let [urls, direct] = this.where(call.user);
    let status = 0, attempt = 0;
    try {
      for (;; ++attempt) {
        const sent = {...headers};
        if (attempt > 0) sent["SeenDB-Attempt"] = String(attempt);
        else if (direct) sent["SeenDB-Route"] = "direct";
        let failure: SeenDBError, again: boolean, wait: number;
        status = 0;
        try {
          const answer = await this.once(urls[attempt % urls.length]!, call, sent, deadline);
          status = answer.status;
          if (status < 300 || status === 422) return answer;
          failure = errorOf(answer);
          if (status === 421 && attempt === 0) { // the placement is old
            this.placementUntil = 0;
            await this.learn(deadline);
            [urls, direct] = this.where(call.user);
            continue;
          }
          again = status === 429 || status === 503;
          wait = waitOf(attempt, answer.headers);
        } catch (error) {
          if (!(error instanceof SeenDBError)) throw error;
          failure = error;
          again = error.code === "unavailable";
          wait = urls.length > 1 ? 0 : waitOf(attempt, {});
        }
        if (!again || call.once || attempt >= (this.options.retries ?? 1) || Date.now() + wait >= deadline || this.budget < 1) throw failure;
        this.budget -= 1;
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      }
    } finally {
      this.options.onCall?.(call.name ?? call.method + " " + call.path, Date.now() - began, status, attempt + 1);
    }
  }
}

class Stale extends Error {}

function waitOf(attempt: number, headers: http.IncomingHttpHeaders): number {
  const ms = Number(headers["seendb-retry-after-ms"] ?? NaN), seconds = Number(headers["retry-after"] ?? NaN);
  const wait = Number.isFinite(ms) ? ms : Number.isFinite(seconds) ? seconds * 1_000 : 10 * 2 ** attempt;
  return wait * (1 + Math.random() / 2);
}

function errorOf(answer: Answer): SeenDBError {
  try {
    const {code, message, field} = JSON.parse(answer.body.toString()).error;
    if (typeof code === "string") return new SeenDBError(code, message, field ?? "", answer.status);
  } catch {
    // not in SeenDB's words
  }
  return new SeenDBError("protocol", "HTTP " + answer.status + ", and not in SeenDB's words: " + answer.body.toString().slice(0, 100), "", answer.status);
}
