import {Answer, Caller} from "./caller.js";
import {Recorded, Refusal} from "./errors.js";
import {Exposure, Play, eventOf} from "./events.js";
import {toJson} from "./ids.js";
import {json} from "./json.js";

export interface BulkOptions {
  /** "plays" without. */
  kind?: "plays" | "impressions" | "exposures";
  collection?: string;
  /** Events; 2,000 without. */
  batch?: number;
  /** ms for a batch to be taken; a minute without. */
  patience?: number;
}

const BYTES_MOST = 1 << 20, REFUSALS_MOST = 100;

/** What became of events. */
export function recordedOf(answer: Answer): Recorded {
  const told = json(answer, "accepted", "refusals") as {accepted: number; refused: number; stale?: number; refusals: {index: number; error: {code: string; message: string; field: string}}[]};
  const refusals: Refusal[] = told.refusals.map((one) => ({index: one.index, ...one.error}));
  return {accepted: told.accepted, refused: told.refused, refusals, pending: answer.status === 202, ...(told.stale === undefined ? {} : {stale: told.stale})};
}

/**
 * Takes events one by one and sends them in batches, as NDJSON. Await `add`: it waits while a batch is on its way, so that whoever
 * reads faster than the server writes is slowed down, and no more than a batch is in memory. A batch that is refused for now (429,
 * 503) or whose connection breaks is sent again until the patience is over; then the call fails, and the batch is kept: `flush`
 * sends it again. One call at a time.
 */
export class Bulk {
  accepted = 0;
  refused = 0;
  /** At most 100; `index`: the how many-th event that was added. */
  readonly refusals: Refusal[] = [];
  private lines: string[] = [];
  private users: string[] = [];
  private size = 0;
  private sent = 0;

  constructor(private readonly caller: Caller, private readonly options: BulkOptions) {}

  /** One without a time gets the present, so that a second try counts once. */
  async add(event: Play | Exposure): Promise<void> {
    const line = toJson(eventOf(event, this.sent + this.lines.length, Date.now()));
    const full = this.lines.length >= (this.options.batch ?? 2_000) || (this.lines.length > 0 && this.size + line.length > BYTES_MOST);
    if (full) await this.flush();
    this.lines.push(line);
    this.users.push(String(event.user));
    this.size += line.length;
  }

  /** Sends what has not been sent. */
  async flush(): Promise<void> {
    if (this.lines.length === 0) return;
    const answer = await this.caller.ask({
      name: "bulk", method: "POST", path: "/" + (this.options.kind ?? "plays"), body: this.lines.join("\n") + "\n", contentType: "application/x-ndjson",
      timeout: this.options.patience ?? 60_000, patient: true, ...(this.options.collection === undefined ? {} : {query: {collection: this.options.collection}}),
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
