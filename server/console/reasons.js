// Why a candidate is seen or excluded, and how many would be unseen if fewer buckets counted.

const WORDS = {
  impression: "served before",
  ring: "watched; still in memory",
  exposed: "on screen before",
  unknown: "not in the store of items",
  old_store: "in the store that the collection moves in from",
};

/** The reason of an answer in words, and the bucket that it names. */
export function explain(reason) {
  if (reason === undefined) return ["", null];
  const [kind, rest] = reason.split(/:(.*)/s);
  if (kind === "play") return ["watched in " + rest, rest];
  if (kind === "mark") return ["of " + rest + ", which the user marked as seen", null];
  if (kind === "set") return ["in the set " + rest + ", which the question excludes", null];
  if (kind === "cap") return ["of " + rest + ", of which a cap allows no more", null];
  if (kind === "where") return ["fails condition " + rest + " of the question", null];
  if (kind === "at_most") return ["one too many of its " + rest + " on this page", null];
  if (kind === "refuted") {
    return [rest === "impression" ? "a served item has the same fingerprint; it is not this one"
      : "the filter of " + rest + " says seen, the history says it was not watched", null];
  }
  return [WORDS[reason] || reason, null];
}

/** How many buckets before the present one: 0 for that. `policy.bucket`: "month" or "days:7". */
export function ageOf(label, policy, nowMs) {
  const [year, month, day] = label.split("-").map(Number);
  const [, sign, hours, minutes] = /^([+-])(\d+):(\d+)$/.exec(policy.utc_offset || "+00:00");
  const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const now = new Date(nowMs + offset);
  if (policy.bucket === "month") {
    return (now.getUTCFullYear() - year) * 12 + now.getUTCMonth() + 1 - month;
  }
  const days = Number(policy.bucket.split(":")[1]);
  return Math.floor((now.getTime() - Date.UTC(year, month - 1, day)) / (days * 86_400_000));
}

/** Candidates that would be unseen as well if so many buckets counted: a reason names the newest
 * bucket that has the item. */
export function unseenToo(answer, policy, window, nowMs) {
  return Object.entries(answer.reasons || {}).filter(([, reason]) => {
    const [, bucket] = explain(reason);
    return bucket !== null && ageOf(bucket, policy, nowMs) >= window;
  }).map(([item]) => item);
}
