// Numbers and times as text.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
export function bytes(count) {
  let unit = 0;
  while (count >= 1024 && unit < UNITS.length - 1) {
    count /= 1024;
    ++unit;
  }
  return (unit === 0 ? Math.round(count) : count.toFixed(count < 10 ? 1 : 0)) + " " + UNITS[unit];
}

export function number(count) {
  return Number(count).toLocaleString("en-US", {maximumFractionDigits: count < 10 ? 2 : 0});
}

export const many = (count, one, more = one + "s") =>
  number(count) + " " + (Number(count) === 1 ? one : more);

/** In UTC, which the head of a column says. */
export function time(ms) {
  const at = new Date(Number(ms));
  return Number.isNaN(at.getTime()) ? ms + " ms" : at.toISOString().replace("T", " ").slice(0, 19);
}

export function seconds(s) {
  if (s < 0.001) return (s * 1e6).toFixed(0) + " us";
  return s < 1 ? +(s * 1e3).toPrecision(3) + " ms" : +s.toPrecision(3) + " s";
}

/** How long: whole seconds, minutes, hours or days. */
export function age(s) {
  if (s < 120) return Math.round(s) + " s";
  return s < 7_200 ? Math.round(s / 60) + " min" : s < 172_800 ? Math.round(s / 3_600) + " h" : Math.round(s / 86_400) + " days";
}

export const perSecond = (rate) => number(rate) + "/s";

export const percent = (share) => +(100 * share).toPrecision(2) + "%";

/** The chance that a filter calls an item seen that it was never told. */
export function chance(filter) {
  return filter.fpr === 0 ? "none: the list is exact" : percent(filter.fpr);
}

const FORMS = {list: "exact list", layers: "Bloom filter", sealed: "Bloom filter, sealed"};
/** How a filter is kept: a sealed one may be a list, which never errs. */
export const form = (filter) => (filter.form === "sealed" && filter.fpr === 0 ? "exact list, sealed"
  : FORMS[filter.form] || filter.form);

/** Whether GET /users/{user} tells of no play and no served item. */
export const nothing = (held) => held.buckets.length + held.ring.length + (held.history || []).length === 0 &&
  !held.marked_groups && [...held.impressions, ...(held.exposures || [])].every((list) => list.entries.length === 0);
