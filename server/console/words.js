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

export const percent = (share) => +(100 * share).toPrecision(2) + "%";

/** The chance that a filter calls an item seen that it was never told. */
export function chance(filter) {
  return filter.fpr === 0 ? "none: the list is exact" : percent(filter.fpr);
}

const FORMS = {list: "exact list", layers: "Bloom filter", sealed: "Bloom filter, sealed"};
export const form = (name) => FORMS[name] || name;
