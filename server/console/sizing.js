// What filters weigh and how often they err: the formulas of engine/doc/sizing.md.

const BLOCK_BYTES = 64, HEAD_BYTES = 15, LIST_BYTES = 6, LIST_HEAD = 10;
const LIST_LIMIT = 4_096;  // items of an open list
const SEALED_SHARE = 0.95;  // of a bucket's rate
const OPEN_BYTES = 2;  // per item beyond the list, of a user whose plays come steadily
const IMPRESSION_BYTES = 8;

const OVER_8 = [1, 8, 28, 56, 70, 56, 28, 8, 1];

/** The rate of a filter of so many blocks with so many items. */
export function expectedFpr(blocks, items) {
  let sum = 0;
  for (let j = 0; j <= 8; ++j) {
    sum += (j % 2 ? -1 : 1) * OVER_8[j] * Math.pow(1 - (1 - Math.pow(63 / 64, j)) / blocks, items);
  }
  return Math.max(0, sum);
}

/** The fewest blocks that keep the rate. */
export function blocksFor(items, fpr) {
  let low = 1, high = 1;
  while (expectedFpr(high, items) > fpr) high *= 2;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (expectedFpr(middle, items) > fpr) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Bytes and rate of one user's sealed bucket of so many items. */
export function sealed(policy, items) {
  const list = LIST_BYTES * items + LIST_HEAD;
  if (policy.representation === "exact" || items <= 10) return {bytes: list, fpr: 0};
  const blocks = blocksFor(items, SEALED_SHARE * policy.fpr / policy.window);
  const bytes = BLOCK_BYTES * blocks + HEAD_BYTES;
  return bytes < list ? {bytes, fpr: expectedFpr(blocks, items)} : {bytes: list, fpr: 0};
}

/** What the filters of users with so many items per bucket come to. */
export function cost(policy, items, users) {
  const one = sealed(policy, items);
  const steady = policy.representation === "exact" || items <= LIST_LIMIT ? LIST_BYTES : OPEN_BYTES;
  const open = steady * items + LIST_HEAD;
  return {
    bucket: one.bytes,
    user: one.bytes * (policy.retention - 1) + open,
    all: users * (one.bytes * (policy.retention - 1) + open + IMPRESSION_BYTES * policy.impressions),
    fpr: one.fpr * (policy.window - 1),
  };
}
