import {Answer, Caller} from "./caller.js";
import {Recorded, Refusal} from "./errors.js";
import {Exposure, Play, eventOf} from "./events.js";
import {Id, toJson} from "./ids.js";
import {json} from "./json.js";

export interface BulkOptions {
  /** "plays" without. */
  kind?: "plays" | "impressions" | "exposures";
  collection?: string;
  /** Events; 2,000 without. */
  batch?: number;
  /** ms for a batch to be taken; a minute without. */
  patience?: number;
  /** false: NDJSON alone. */
  binary?: boolean;
}

const BYTES_MOST = 1 << 20, REFUSALS_MOST = 100;
/** The forms of a body: rows of numbers, rows of texts, lines of JSON. Each takes what those before it take. */
const NUMBERS = 0, TEXTS = 1, LINES = 2;

/** The first form that takes an event; a time of 0 is the server's present. */
function formOf(event: (Play | Exposure) & {at: number}): number {
  const more = Object.entries(event).some(([name, value]) => value !== undefined && name !== "user" && name !== "item" && name !== "at");
  if (more || !Number.isSafeInteger(event.at) || event.at <= 0) return LINES;
  return typeof event.user === "bigint" && typeof event.item === "bigint" ? NUMBERS : TEXTS;
}

function written(event: (Play | Exposure) & {at: number}, form: number): Buffer {
  if (form === LINES) return Buffer.from(toJson(event) + "\n");
  const number = (value: Id | number) => {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return bytes;
  };
  const text = (value: Id) => {
    const bytes = Buffer.from("1234" + String(value));
    bytes.writeUInt32LE(bytes.length - 4);
    return bytes;
  };
  const id = form === NUMBERS ? number : text;
  return Buffer.concat([id(event.user), id(event.item), number(event.at)]);
}

/** What became of events. */
export function recordedOf(answer: Answer): Recorded {
  const told = json(answer, "accepted", "refusals") as {accepted: number; refused: number; stale?: number; refusals: {index: number; error: {code: string; message: string; field: string}}[]};
  const refusals: Refusal[] = told.refusals.map((one) => ({index: one.index, ...one.error}));
  return {accepted: told.accepted, refused: told.refused, refusals, pending: answer.status === 202, ...(told.stale === undefined ? {} : {stale: told.stale})};
}

/**
 * Takes events one by one and sends them in batches: in binary as long as all are plays that say no more than user, item and at, from
 * the first other one on as NDJSON. Await `add`: it waits while a batch is on its way, so that whoever
 * reads faster than the server writes is slowed down, and no more than a batch is in memory. A batch that is refused for now (429,
 * 503) or whose connection breaks is sent again until the patience is over; then the call fails, and the batch is kept: `flush`
 * sends it again. One call at a time.
 */
export class Bulk {
  accepted = 0;
  refused = 0;
  /** At most 100; `index`: the how many-th event that was added. */
  readonly refusals: Refusal[] = [];
  private lines: Buffer[] = [];
  private form: number;
  private users: string[] = [];
  private size = 0;
  private sent = 0;

  constructor(private readonly caller: Caller, private readonly options: BulkOptions) {
    this.form = options.binary !== false && (options.kind ?? "plays") === "plays" ? NUMBERS : LINES;
  }

  /** One without a time gets the present, so that a second try counts once. */
  async add(event: Play | Exposure): Promise<void> {
    const told = eventOf(event, this.sent + this.lines.length, Date.now()), form = Math.max(this.form, formOf(told)), line = written(told, form);
    const full = form > this.form || this.lines.length >= (this.options.batch ?? 2_000) || (this.lines.length > 0 && this.size + line.length > BYTES_MOST);
    if (full) await this.flush();
    this.form = form;
    this.lines.push(line);
    this.users.push(String(event.user));
    this.size += line.length;
  }

  /** Sends what has not been sent. */
  async flush(): Promise<void> {
    if (this.lines.length === 0) return;
    const query: Record<string, string> = this.options.collection === undefined ? {} : {collection: this.options.collection}, rows = this.form !== LINES;
    if (rows) Object.assign(query, {ids: this.form === NUMBERS ? "u64" : "string", count: String(this.lines.length)});
    const answer = await this.caller.ask({
      name: "bulk", method: "POST", path: "/" + (this.options.kind ?? "plays"), query, body: Buffer.concat(this.lines),
      contentType: rows ? "application/octet-stream" : "application/x-ndjson", timeout: this.options.patience ?? 60_000, patient: true,
    });
    const position = answer.headers["seendb-position"];
    if (typeof position === "string") this.caller.positions.note(this.users, position);
    const recorded = recordedOf(answer);
    this.accepted += recorded.accepted;
    this.refused += recorded.refused;
    this.refusals.push(...recorded.refusals.slice(0, REFUSALS_MOST - this.refusals.length).map((one) => ({...one, index: one.index + this.sent})));
    this.sent += this.lines.length;
    [this.lines, this.users, this.size] = [[], [], 0];
  }
}
