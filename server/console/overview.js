// Overview: how the server is. It asks every two seconds while the page is seen; what was is kept in
// this tab alone. The metrics say most of it. What administrators alone may see (slots, buckets) is
// asked for more seldom, since each such question has a line in the audit.

import * as api from "./api.js";
import {bars, lineCard, slotLegend, slotMap, valueCard} from "./charts.js";
import {h, id, quiet, saidOnce} from "./dom.js";
import {Scrape, Span} from "./metrics.js";
import {problemNotes} from "./problems.js";
import {liveTable, pager} from "./table.js";
import {EVERY_MS, REPORTS_EVERY, asAdmin, watch} from "./watch.js";
import {age, bytes, many, number, perSecond, percent, seconds, time} from "./words.js";

const KEPT = 150;  // points: five minutes
const SHARDS = 64;  // of a page of the map

const ofFilter = (labels) => labels.route === "POST /filter";
const share = (span, part, whole) => {
  const all = span.grown(whole);
  return all > 0 ? span.grown(part) / all : null;
};

// [name, text of a value, value between two looks; null: nothing is known]
const LINES = [
  ["Filter requests", perSecond, (span) => span.rate("seendb_filter_requests_total")],
  ["Candidates", perSecond, (span) => span.rate("seendb_filter_candidates_total")],
  ["Candidates seen", percent, (span) => share(span, "seendb_filter_seen_total", "seendb_filter_candidates_total")],
  ["Filters, half within", seconds, (span) => edge(span, 0.5)],
  ["Filters, 99% within", seconds, (span) => edge(span, 0.99)],
  ["Degraded answers", percent, (span) => share(span, "seendb_filter_degraded_total", "seendb_filter_requests_total")],
  ["Plays", perSecond, (span) => span.rate("seendb_plays_accepted_total")],
  ["Served items", perSecond, (span) => span.rate("seendb_impressions_accepted_total")],
  ["Refused under load", perSecond, (span) => span.rate("seendb_http_requests_total", (labels) =>
    labels.code === "503" || labels.code === "429")],
  ["Load of the busiest thread", percent, (span) => span.now.sum("seendb_load_ratio", (labels) => labels.of === "max")],
  ["Work in the queues", seconds, (span) => span.now.sum("seendb_queue_work_seconds")],
  ["Processor", (cores) => number(cores) + " cores", (span) => span.rate("process_cpu_seconds_total")],
];

function edge(span, part) {
  const found = span.quantile(part, "seendb_http_request_seconds", ofFilter);
  return found === Infinity ? 10 : found;
}

/** A part of the page that the metrics fill: rates and amounts. */
function metricsPart() {
  const lines = LINES.map(([name, textOf, valueOf]) => ({card: lineCard(name, KEPT, EVERY_MS), textOf, valueOf}));
  const [memory, disk, ring, up] = ["Memory", "Database", "Plays in memory", "Running"].map(valueCard);
  const box = h("div", {class: "cards"}, lines.map((one) => one.card), memory, disk, ring, up);
  box.set = (scrape, span) => {
    for (const {card, textOf, valueOf} of lines) card.add(span === null ? null : valueOf(span), textOf);
    memory.set(bytes(scrape.sum("process_resident_memory_bytes")));
    disk.set(bytes(scrape.sum("seendb_disk_bytes")), bytes(scrape.sum("seendb_disk_free_bytes")) + " free on the disk");
    const oldest = Math.max(0, ...scrape.of("seendb_ring_age_seconds").map(([, , value]) => value));
    ring.set(number(scrape.sum("seendb_ring_plays")), bytes(scrape.sum("seendb_ring_bytes")) + ", the oldest " +
      many(Math.round(oldest / 60), "minute"));
    const s = Date.now() / 1_000 - scrape.sum("process_start_time_seconds");
    const [, labels] = scrape.of("seendb_build_info")[0] || [null, {}];
    up.set(age(Math.max(0, s)), "version " + (labels.version || "?"));
  };
  return box;
}

/** Slots and buckets, as administrators see them. */
function reportsPart() {
  const map = slotMap();
  let most = 1;
  const pages = pager("Shards", SHARDS, (shards) => map.set(shards.flat(), most));
  const slots = liveTable("Slots", [["Shard", "number"], ["Slot", "number"], "State", ["Plays", "number"],
    ["Bytes", "number"], "Opened (UTC)"], (slot) => [String(slot.shard), String(slot.slot), slot.state, number(slot.plays),
    bytes(slot.bytes), time(slot.opened_ms)]);
  const months = bars("Bytes by bucket", bytes);
  const buckets = liveTable("Buckets", ["Collection", "Bucket", "State", ["Bytes", "number"], "Ends (UTC)"], (one) =>
    [id(one.collection), one.bucket, one.state + (one.in_window ? "" : ", beyond the window"), bytes(one.bytes), time(one.end_ms)]);
  const box = h("div", {}, h("h2", {}, "Plays in memory, by shard and slot"), slotLegend(), map, pages,
    h("details", {}, h("summary", {}, "The slots as a table"), slots),
    h("h2", {}, "Buckets, all collections"), months,
    h("details", {}, h("summary", {}, "Each bucket of each collection"), buckets));
  box.set = (ring, report) => {
    const byShard = new Map();
    for (const slot of ring.slots) {
      if (!byShard.has(slot.shard)) byShard.set(slot.shard, []);
      byShard.get(slot.shard).push(slot);
    }
    most = Math.max(1, ...ring.slots.map((one) => one.bytes));
    pages.set([...byShard.values()]);
    slots.set(ring.slots.filter((one) => one.state !== "free"));
    const byLabel = new Map();
    for (const one of report.buckets) {
      const had = byLabel.get(one.bucket) || {bytes: 0, windowed: false};
      byLabel.set(one.bucket, {bytes: had.bytes + one.bytes, windowed: had.windowed || one.in_window});
    }
    const labels = [...byLabel.keys()].sort();
    months.set(labels.slice(-24).map((label) =>
      [label, byLabel.get(label).bytes, byLabel.get(label).windowed ? "windowed" : "beyond"]));
    buckets.set(report.buckets);
  };
  return box;
}

/** Each shard's plays in memory, where the metrics alone may be seen. */
function shardsPart() {
  const rows = liveTable("Shards", [["Shard", "number"], ["Plays", "number"], ["Bytes", "number"], ["Oldest, minutes", "number"]],
    (row) => row, 16);
  const box = h("div", {}, h("h2", {}, "Plays in memory, by shard"), rows,
    quiet("Slots and buckets are shown to a token of the role admin."));
  box.set = (scrape) => {
    const by = (name) => new Map(scrape.of(name).map(([, labels, value]) => [labels.shard, value]));
    const plays = by("seendb_ring_plays"), used = by("seendb_ring_bytes"), age = by("seendb_ring_age_seconds");
    rows.set([...plays].map(([shard, count]) => [shard, number(count), bytes(used.get(shard) || 0),
      String(Math.round((age.get(shard) || 0) / 60))]));
  };
  return box;
}

export async function overview(page) {
  const health = h("div", {}), trouble = h("div", {}), below = h("div", {});
  const metrics = metricsPart();
  const say = saidOnce(health);
  let before = null, admin = null, reports = null, shards = null;
  page.append(h("h1", {}, "How is the server?"), trouble, health, metrics, below);

  const askReports = async () => {
    const both = await asAdmin(() => Promise.all([api.call("GET", "/admin/ring"), api.call("GET", "/admin/buckets")]));
    admin = both !== null;
    if (!admin) return below.replaceChildren(shards = shardsPart());
    if (reports === null) below.replaceChildren(reports = reportsPart());
    reports.set(...both);
  };
  return watch(trouble, async (looks) => {
    if (looks === 0) before = null;
    const [text, ready] = await Promise.all([api.text("/metrics", EVERY_MS * 5),
      api.call("GET", "/readyz").catch((error) => ({problems: [error.message]}))]);
    const scrape = new Scrape(text, performance.now());
    if (admin !== false && looks % REPORTS_EVERY === 0) await askReports();
    if (!page.isConnected) return;
    metrics.set(scrape, Span.between(before, scrape));
    if (shards) shards.set(scrape);
    before = scrape;
    say(JSON.stringify(ready), () => problemNotes(ready));
  });
}
