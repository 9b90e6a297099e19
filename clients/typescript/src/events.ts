import {Id, check} from "./ids.js";

/** A play; without `at` it gets the present, before the first try, so that a second one counts once. */
export interface Play {
  user: Id;
  item: Id;
  /** ms since 1970, or a Date. */
  at?: number | Date;
  /** Seconds into the item; -1: finished. */
  progress_s?: number;
  duration_s?: number;
  device?: string;
  fields?: Record<string, unknown>;
}

/** An item that really was on a user's screen; its time is as a play's. */
export interface Exposure {
  user: Id;
  item: Id;
  at?: number | Date;
  /** Where, such as "home". */
  surface?: string;
}

/** As the server takes it; `index`: the how many-th it is, for errors. */
export function eventOf<E extends Play | Exposure>(event: E, index: number, now: number): E & {at: number} {
  check(event.user, "/events/" + index + "/user");
  check(event.item, "/events/" + index + "/item");
  return {...event, at: event.at === undefined ? now : Number(event.at)};
}

/** A candidate and the groups that it belongs to ("channel:9"), at most 16, for the user's marks. It comes back as its id. */
export interface Candidate<T extends Id = Id> {
  id: T;
  of?: readonly string[];
  /** When it was published: ms since 1970, or a Date. Without it only a mark for ever makes it seen. */
  at?: number | Date;
}

/** The id of a candidate. */
export type IdOf<C extends Id | Candidate> = C extends Id ? C : C extends Candidate<infer T> ? T : never;

const isGrouped = (one: Id | Candidate): one is Candidate => typeof one === "object" && one !== null;

export const idOf = <C extends Id | Candidate>(one: C): IdOf<C> => (isGrouped(one) ? one.id : one) as IdOf<C>;

/** The candidate as the server takes it; throws for what is no id. */
export function candidateOf(one: Id | Candidate, index: number): unknown {
  const field = "/items/" + index;
  return isGrouped(one) ? {...one, id: check(one.id, field + "/id"), at: one.at === undefined ? undefined : Number(one.at)} : check(one, field);
}

/** Says what makes an item seen: one event has to meet all of it. */
export interface NotEntry {
  fact: "played" | "served" | "exposed";
  /** In so many newest buckets. */
  window?: number;
  /** Not longer ago: "7d", "10m". */
  within?: string;
  /** Among so many newest entries. */
  last?: number;
  surface?: string;
}
