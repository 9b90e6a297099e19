import {readFileSync, statSync} from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import {Socket} from "node:net";

import {SeenDBError} from "./errors.js";
import {Named, Resolver} from "./names.js";
import {Placement, Positions} from "./routing.js";

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
  /**
   * ms: a read that was not answered for so long is asked at another server too, and the first good answer counts; of second
   * tries, which have their budget.
   */
  hedge?: number;
  /** "host:port" of a name server that is asked in place of the system's for srv+http://name; or who is asked in place of any. */
  dns?: string;
  resolver?: Resolver;
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
  /** It may not be made twice: no second try, and none on a new connection where a kept one was closed. */
  once?: boolean;
  /** It may be made at two servers at once. */
  hedge?: boolean;
  /** It is made again and again, until its time is over. */
  patient?: boolean;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

const PLACEMENT_MS = 30_000; // a map of a cluster is asked for again after so long
const SOON_MS = 1_000; // and no sooner; as long a server that could not be reached comes last
const LATER_MS = 50; // the server ends the wait, and the connection stays usable
const BODY_MOST = 1 << 30;
const SHARE = 0.1, MOST = 10, DOUBLINGS_MOST = 7;
const PORT = "7373";
const AGENTS_MOST = 1_000;

const now = () => performance.now(); // ms that no change of the clock moves

/** What all calls of a client share: connections, second tries, tokens, positions. */
export class Caller {
  readonly positions = new Positions();
  readonly timeout: number;
  private readonly urls: string[];
  private readonly names = new Map<string, Named>(); // by URL
  private readonly agents = new Map<string, http.Agent>();
  private readonly opened = new WeakSet<Socket>(); // connections that have carried a request
  private readonly awayUntil = new Map<string, number>(); // so long a server comes last
  private budget = MOST;
  private turn = 0;
  private placement: Placement | null = null;
  private placementUntil = 0;
  private token: string | undefined;
  private tokenSeen = -1;
  private closed = false;

  constructor(urls: string | string[], private readonly options: Options) {
    this.urls = (typeof urls === "string" ? [urls] : urls).map((url) => url.replace(/\/$/, ""));
    if (this.urls.length === 0) throw new TypeError("no server is named");
    for (const url of this.urls) {
      if (url.startsWith("srv+")) this.names.set(url, new Named(url, options.dns, options.resolver));
      else if (!/^(https?:\/\/[^/]+|unix:.+)$/.test(url)) throw new TypeError(url + " is no http://host:port, https://host:port or unix:/path");
    }
    this.timeout = options.timeout ?? 1_000;
    this.token = options.token;
  }

  close(): void {
    this.closed = true;
    for (const agent of this.agents.values()) agent.destroy();
  }

  private agentOf(url: string): http.Agent {
    if (this.closed) throw new SeenDBError("closed", "the client is closed");
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

  /** The servers to try, in order, and whether the first is said to have the user. */
  private where(user?: string): [string[], boolean] {
    const own = user === undefined ? [] : this.placement?.urlsOf(user) ?? [];
    if (own.length > 0 && !this.isAway(own[0]!)) return [own, true];
    const first = this.turn++ % this.urls.length;
    const turned = [...this.urls.slice(first), ...this.urls.slice(0, first)].flatMap((url) => this.names.get(url)?.ranked() ?? [{url, rank: 0}]);
    if (turned.length === 0) throw new SeenDBError("unavailable", [...this.names.values()].map((one) => one.url + ": " + one.why).join("; "));
    return [turned.sort((a, b) => Number(this.isAway(a.url)) - Number(this.isAway(b.url)) || a.rank - b.rank).map((one) => one.url), false];
  }

  /** Asks for the targets of names where that is due, behind this call. Where each of them has failed since, the call waits. */
  private async lookUp(deadline: number): Promise<void> {
    for (const name of this.names.values()) {
      const none = name.ranked().every((one) => (this.awayUntil.get(one.url) ?? 0) > name.asked);
      const answered = name.refresh(none);
      if (!none || answered === null) continue;
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([answered, new Promise((resolve) => (timer = setTimeout(resolve, (deadline - now()) / 3)))]);
      clearTimeout(timer);
    }
    if (this.names.size > 0 && this.agents.size > AGENTS_MOST) this.agents.clear(); // of former targets, too: idle connections end by themselves
  }

  private isAway(url: string): boolean {
    return now() < (this.awayUntil.get(url) ?? 0);
  }

  /** Asks for the map where it is old; a node that can't be asked leaves the former one. */
  private async learn(deadline: number): Promise<void> {
    if (!this.options.cluster || now() < this.placementUntil) return;
    const began = now();
    this.placementUntil = began + PLACEMENT_MS;
    try {
      const answer = await this.once(this.where()[0][0]!, {method: "GET", path: "/cluster"}, {}, began + (deadline - began) / 3);
      if (answer.status === 200) this.placement = new Placement(JSON.parse(answer.body.toString()));
    } catch {
      this.placementUntil = now() + SOON_MS; // the former one goes on
    }
  }

  /** One try. A connection that was closed while it was idle is opened anew, where the call may be made twice. */
  private async once(url: string, call: Call, headers: Record<string, string>, deadline: number): Promise<Answer> {
    try {
      return await this.exchange(url, call, headers, deadline).catch((error) => {
        if (!(error instanceof Stale) || call.once) throw error;
        const idle = this.agents.get(url)?.freeSockets ?? {}; // closed with it
        for (const socket of Object.values(idle).flat()) socket?.destroy();
        return this.exchange(url, call, headers, deadline);
      });
    } catch (error) {
      if (error instanceof Unsent) this.awayUntil.set(url, now() + SOON_MS);
      throw error;
    }
  }

  private exchange(url: string, call: Call, headers: Record<string, string>, deadline: number): Promise<Answer> {
    const left = deadline - now();
    if (left < 1) return Promise.reject(new SeenDBError("timeout", "no answer in time"));
    const sent: Record<string, string | number> = {...headers, "SeenDB-Timeout-Ms": String(Math.floor(left))};
    const token = this.authorization();
    if (token) sent.Authorization = "Bearer " + token;
    if (call.contentType !== undefined) sent["Content-Type"] = call.contentType;
    const body = typeof call.body === "string" ? Buffer.from(call.body) : call.body;
    if (body !== undefined || call.method !== "GET") sent["Content-Length"] = body?.length ?? 0;
    const unix = url.startsWith("unix:");
    const at = new URL(unix ? "http://localhost" : url);
    const port = /:(\d+)\/?$/.exec(url)?.[1] ?? PORT; // URL leaves 80 and 443 out
    const secure = at.protocol === "https:";
    const query = call.query === undefined ? "" : "?" + Object.entries(call.query).map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&");
    return new Promise((resolve, reject) => {
      const request = (secure ? https : http).request({
        agent: this.agentOf(url), method: call.method, path: call.path + query, headers: sent,
        ...(unix ? {socketPath: url.slice(5)} : {host: at.hostname.replace(/^\[|\]$/g, ""), port}),
      });
      let opening: NodeJS.Timeout | undefined, kept = false, begun = false;
      const timer = setTimeout(() => {
        clearTimeout(opening);
        reject(new SeenDBError("timeout", "no answer in time"));
        request.destroy();
      }, left + LATER_MS);
      const fail = (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        clearTimeout(opening);
        const why = error.message || String(error.code); // of several addresses: no message
        if (opening !== undefined) return reject(new Unsent("unavailable", url + ": " + why));
        if (kept && !begun && (error.code === "ECONNRESET" || error.code === "EPIPE")) return reject(new Stale("unavailable", why));
        const lied = error.code?.startsWith("HPE_") === true && error.code !== "HPE_INVALID_EOF_STATE";
        reject(new SeenDBError(lied ? "protocol" : "unavailable", why));
      };
      request.on("socket", (socket) => {
        kept = this.opened.has(socket);
        if (kept) return;
        opening = setTimeout(() => request.destroy(new Error("no connection in time")), (deadline - now()) / 3); // time for another server
        socket.once(secure ? "secureConnect" : "connect", () => {
          clearTimeout(opening);
          opening = undefined;
          this.opened.add(socket);
        });
      });
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

  /** What the first of two tries gives that is answered well; the second begins late, if the budget lets it: `began` is told. */
  private async hedged(first: () => Promise<Answer>, second: () => Promise<Answer>, began: () => void): Promise<Answer> {
    const one = first();
    const quick = await Promise.race([one.then(() => true, () => true), new Promise<false>((resolve) => setTimeout(() => resolve(false), this.options.hedge).unref())]);
    if (quick || this.budget < 1) return one;
    this.budget -= 1;
    began();
    const good = (tried: Promise<Answer>) => tried.then((answer) => (answer.status < 429 ? answer : Promise.reject(answer)));
    const other = second();
    return Promise.any([good(one), good(other)]).catch(() => one.catch(() => other));
  }

  /** The answer of 2xx, 304 or 422, with second tries where they are allowed. */
  async ask(call: Call): Promise<Answer> {
    const began = now();
    const deadline = began + (call.timeout ?? this.timeout);
    const headers: Record<string, string> = {...call.headers};
    const position = call.user === undefined ? undefined : this.positions.of(call.user);
    if (position !== undefined) headers["SeenDB-Position"] = position;
    this.budget = Math.min(MOST, this.budget + SHARE);
    let at = 0, attempt = 0, tries = 0, status = 0;
    try {
      await this.lookUp(deadline);
      await this.learn(deadline);
      let [urls, direct] = this.where(call.user);
      for (;;) {
        const sent = {...headers};
        if (attempt > 0) sent["SeenDB-Attempt"] = String(attempt);
        if (direct) sent["SeenDB-Route"] = "direct";
        let failure: SeenDBError, wait: number | null;
        status = 0;
        ++tries;
        try {
          const first = () => this.once(urls[at]!, call, sent, deadline);
          const second = () => this.once(urls[(at + 1) % urls.length]!, call, {...headers, "SeenDB-Attempt": "1"}, deadline);
          const hedge = call.hedge && this.options.hedge !== undefined && attempt === 0 && urls.length > 1;
          const answer = await (hedge ? this.hedged(first, second, () => ++tries) : first());
          status = answer.status;
          if (status < 300 || status === 304 || status === 422) return answer;
          failure = errorOf(answer);
          if (status === 421 && direct) { // nothing was done, the map is old: any node passes it on
            this.placementUntil = Math.min(this.placementUntil, now() + SOON_MS);
            [urls, direct] = this.where();
            at = 0;
            continue;
          }
          wait = status === 429 || status === 503 ? waitOf(attempt, answer.headers) : null;
        } catch (error) {
          if (!(error instanceof SeenDBError)) throw error;
          if (error instanceof Unsent && at + 1 < urls.length) { // nothing was done: the next one
            ++at;
            direct = false;
            continue;
          }
          failure = error;
          wait = error.code === "unavailable" ? waitOf(attempt, {}) : null;
        }
        const over = !call.patient && (attempt >= (this.options.retries ?? 1) || this.budget < 1);
        if (wait === null || call.once || over || now() + wait >= deadline) throw failure;
        if (!call.patient) this.budget -= 1;
        if (urls.length > 1) {
          at = (at + 1) % urls.length;
          direct = false;
        }
        const ms = wait;
        await new Promise((resolve) => setTimeout(resolve, ms));
        ++attempt;
      }
    } finally {
      this.options.onCall?.(call.name ?? call.method + " " + call.path, now() - began, status, tries);
    }
  }
}

/** No connection: no server has read the request. */
class Unsent extends SeenDBError {}

/** A kept connection that was closed before the answer began. */
class Stale extends SeenDBError {}

function waitOf(attempt: number, headers: http.IncomingHttpHeaders): number {
  const ms = Number(headers["seendb-retry-after-ms"] ?? NaN), seconds = Number(headers["retry-after"] ?? NaN);
  const wait = Number.isFinite(ms) ? ms : Number.isFinite(seconds) ? seconds * 1_000 : 10 * 2 ** Math.min(attempt, DOUBLINGS_MOST);
  return wait * (1 + Math.random() / 2);
}

function errorOf(answer: Answer): SeenDBError {
  try {
    const {code, message, field} = JSON.parse(answer.body.toString()).error;
    if (typeof code === "string") return new SeenDBError(code, message, field ?? "", answer.status);
  } catch {
    // not in SeenDB's words
  }
  const code = answer.status === 502 || answer.status === 504 ? "unavailable" : "protocol"; // a proxy's
  return new SeenDBError(code, "HTTP " + answer.status + ", and not in SeenDB's words: " + answer.body.toString().slice(0, 100), "", answer.status);
}
