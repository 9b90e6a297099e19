import {Id, check} from "./ids.js";

/** A value of an item. Whole numbers that a number does not hold (2^53 and more) are bigints. */
export type ItemValue = boolean | number | bigint | string | readonly (number | bigint)[] | readonly string[];

/** A field that items may have. */
export interface ItemField {
  name: string;
  type: "bool" | "i64" | "f32" | "text" | "list_i64" | "list_text";
  column?: boolean;
}

/** Changes an item. Updates are free of order and harmless when repeated: each field keeps the value with the highest version. */
export interface ItemUpdate {
  id: Id;
  version: number | bigint;
  set?: Record<string, ItemValue>;
  unset?: readonly string[];
  /** Fields with lower versions go. */
  replace?: boolean;
  /** The item goes. */
  delete?: boolean;
  /** ms since 1970, or a Date. */
  expires_at?: number | Date;
}

/** An item as the server knows it. */
export interface Item<T extends Id = Id> {
  id: T;
  /** The highest that it was updated with. */
  version: number | bigint;
  fields: Record<string, ItemValue>;
}

/** A rule on items: all comparisons of the field must hold. What has no such field meets `ne`, and `exists: false`, alone. */
export interface Rule {
  field: string;
  eq?: ItemValue;
  ne?: ItemValue;
  in?: readonly ItemValue[];
  ge?: ItemValue;
  le?: ItemValue;
  /** Of a list. */
  any_of?: readonly ItemValue[];
  exists?: boolean;
}

/** A named set of items. */
export interface ItemSet {
  name: string;
  /** Of its ids. */
  count: number;
  /** Of the server's memory. */
  bytes: number;
  /** When it was put, in ms since 1970. */
  at: number;
  /** Part of it can't be read: put it again. */
  damaged?: boolean;
}

/** A page of a set: ids as text, in the order of their bytes. */
export interface SetPage extends ItemSet {
  items: string[];
  /** Of the next page; absent: this is the last. */
  cursor?: string;
}

/** Events by span. */
export type SpanCounts = Record<"1h" | "1d" | "7d" | "30d", number>;

/** How often a user was served, exposed to and played what belongs to a group. */
export interface GroupCounts {
  key: string;
  served: SpanCounts;
  exposed: SpanCounts;
  played: SpanCounts;
  /** There may have been more than are kept (255 of a group and fact). */
  at_least?: boolean;
}

/** The counts of a kind of groups, those with the newest events first. */
export interface CountsPage {
  counts: GroupCounts[];
  /** The user has more than 1,000 groups of the kind. */
  more: boolean;
  /** Counts may be missing. */
  degraded: boolean;
  missing: string[];
}

/** What became of the items of a reservation, as they were given. */
export interface Reserved<T extends Id = Id> {
  reserved: T[];
  /** A cap leaves no room for them. */
  refused: T[];
}

/** The update as the server takes it; throws for what is no id. */
export function updateOf(update: ItemUpdate, index: number): unknown {
  const id = String(check(update.id, "/items/" + index + "/id"));
  return {...update, id, expires_at: update.expires_at === undefined ? undefined : Number(update.expires_at)};
}
