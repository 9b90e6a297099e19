// Ingest: how the server reads its topics of Kafka. The metrics say how far; administrators see why a partition is not read.

import * as api from "./api.js";
import {lineCard, valueCard} from "./charts.js";
import {h, id, note, quiet, saidOnce} from "./dom.js";
import {Scrape, Span} from "./metrics.js";
import {liveTable} from "./table.js";
import {EVERY_MS, REPORTS_EVERY, asAdmin, watch} from "./watch.js";
import {many, number, perSecond} from "./words.js";

const KEPT = 150;  // points: five minutes
const NAMED = 8;  // partitions that a note names

// What an alarm says, and what to do about it.
const ALARMS = {
  truncated: "Messages were deleted before they were read; reading went on behind them. Raise the topic's retention.",
  gap: "Offsets in between are gone; reading went on behind them.",
  beyond_end: "The topic was made anew, or lost messages. It is not read until its offsets are forgotten: " +
    "seendb ingest --db DIR --forget TOPIC, with the server stopped.",
  no_start: "Nothing of it was read yet, and kafka.start does not say where to begin.",
  no_collection: "Its collection is not there.",
  nothing_taken: "All its events are refused: the topic's settings do not fit it.",
  wrong_shape: "It has another number of partitions than the cluster.",
};

// [metric's name behind seendb_ingest_, what it is called here]
const FIELDS = [["applied_offset", "next"], ["high_watermark", "end"], ["lag", "lag"], ["messages_total", "messages"],
  ["dead_letters_total", "dead"], ["lost_total", "lost"], ["held", "held"]];

const keyOf = (topic, partition) => JSON.stringify([topic, Number(partition)]);

/** What the metrics say of each partition, by topic and number. */
function partitionsOf(scrape, span) {
  const all = new Map();
  const of = ({topic, partition}) => {
    const key = keyOf(topic, partition);
    if (!all.has(key)) all.set(key, {topic, partition: Number(partition), alarms: [], why: "", rate: null});
    return all.get(key);
  };
  for (const [name, field] of FIELDS) {
    for (const [, labels, value] of scrape.of("seendb_ingest_" + name)) of(labels)[field] = value;
  }
  for (const [, labels, value] of scrape.of("seendb_ingest_alarm")) {
    if (value > 0) of(labels).alarms.push(labels.kind);
  }
  if (span) {
    for (const [, {topic, partition}, value] of span.before.of("seendb_ingest_messages_total")) {
      const one = all.get(keyOf(topic, partition));
      if (one) one.rate = Math.max(0, one.messages - value) / span.seconds;
    }
  }
  return all;
}

/** The report's own words are added: the collection, why a partition is held, the rate of the last ten seconds. */
function enrich(partitions, report) {
  const collections = new Map();
  for (const {topic, collection, partitions: some} of report ? report.topics : []) {
    collections.set(topic, collection);
    for (const one of some) {
      const known = partitions.get(keyOf(topic, one.partition));
      if (known) Object.assign(known, {why: one.held || "", rate: one.rate});
    }
  }
  return collections;
}

/** A note for each kind of alarm of a topic. */
function alarmNotes(partitions) {
  const grouped = new Map();
  for (const {topic, partition, alarms} of partitions) {
    for (const kind of alarms) {
      const key = JSON.stringify([topic, kind]);
      if (!grouped.has(key)) grouped.set(key, {topic, kind, numbers: []});
      grouped.get(key).numbers.push(partition);
    }
  }
  return [...grouped.values()].slice(0, 16).map(({topic, kind, numbers}) => {
    const rest = numbers.length - NAMED;
    return note("bad", h("strong", {}, kind), " in ", id(topic), ", ", numbers.length === 1 ? "partition " : "partitions ",
      numbers.slice(0, NAMED).join(", "), rest > 0 ? " and " + many(rest, "more", "more") : "", ". ", ALARMS[kind] || "",
      " The alarm stands until a restart.");
  });
}

const known = (value) => (value === undefined ? "not known" : number(value));

function stateOf(one) {
  if (one.why) return ["not read: ", h("bdi", {}, one.why)];
  if (one.held > 0) return "not read";
  return one.alarms.length > 0 ? one.alarms.join(", ") : one.lag === 0 ? "at the end" : "being read";
}

/** Sums by topic, with the reasons for which events were refused. */
function topicsOf(partitions, scrape) {
  const topics = new Map();
  for (const one of partitions) {
    if (!topics.has(one.topic)) topics.set(one.topic, {topic: one.topic, count: 0, lag: 0, rate: null, dead: 0, most: null, refused: []});
    const all = topics.get(one.topic);
    all.count += 1;
    all.lag += one.lag || 0;
    all.dead += one.dead || 0;
    if (one.rate !== null) all.rate = (all.rate || 0) + one.rate;
    if (one.lag > 0 && (all.most === null || one.lag > all.most.lag)) all.most = one;
  }
  for (const [, {topic, reason}, value] of scrape.of("seendb_ingest_refused_total")) {
    if (value > 0 && topics.has(topic)) topics.get(topic).refused.push(number(value) + " " + reason);
  }
  return [...topics.values()];
}

const cards = () => ({
  read: lineCard("Messages read", KEPT, EVERY_MS), lag: lineCard("Still to be read", KEPT, EVERY_MS),
  refused: valueCard("Events refused"), dead: valueCard("Dead letters"), errors: valueCard("Errors of brokers"),
});

export async function ingestPage(page) {
  const trouble = h("div", {}), top = h("div", {}), shown = cards(), say = saidOnce(top);
  let collections = new Map(), report = null, admin = null, before = null;
  const topics = liveTable("Topics", ["Topic", "Collection", ["Partitions", "number"], ["Still to be read", "number"], "Most of it in",
    ["Per second", "number"], "Refused", ["Dead letters", "number"]], (one) => [id(one.topic),
    collections.has(one.topic) ? id(collections.get(one.topic)) : "", number(one.count), number(one.lag),
    one.most ? "partition " + one.most.partition : "", one.rate === null ? "-" : number(one.rate),
    one.refused.join(", "), number(one.dead)]);
  const partitions = liveTable("Partitions", ["Topic", ["Partition", "number"], ["Next to read", "number"], ["End of the log", "number"],
    ["Still to be read", "number"], ["Per second", "number"], ["Dead letters", "number"], ["Lost", "number"], "State"], (one) => [
    id(one.topic), String(one.partition), known(one.next), known(one.end), known(one.lag), one.rate === null ? "-" : number(one.rate),
    number(one.dead || 0), number(one.lost || 0), stateOf(one)]);
  const below = h("div", {hidden: true}, h("div", {class: "cards"}, Object.values(shown)), h("h2", {}, "Topics"), topics,
    h("h2", {}, "Partitions"), partitions, quiet("Each message counts once, however often the server is killed: offsets are written " +
      "with the plays that they cover. Dead letters are messages that held no event."));
  page.append(h("h1", {}, "Plays from Kafka"), trouble, top, below);

  return watch(trouble, async (looks) => {
    if (looks === 0) before = null;
    const scrape = new Scrape(await api.text("/metrics", EVERY_MS * 5), performance.now());
    const consumes = scrape.of("seendb_ingest_errors_total").length > 0;
    if (consumes && admin !== false && looks % REPORTS_EVERY === 0) {
      report = await asAdmin(() => api.call("GET", "/admin/ingest"));
      admin = report !== null;
    }
    if (!page.isConnected) return;
    below.hidden = !consumes;
    const span = Span.between(before, scrape);
    before = scrape;
    if (!consumes) {
      return say("none", () => [note("", "This server consumes no topic. With kafka in its settings it reads plays from Kafka.")]);
    }
    const all = partitionsOf(scrape, span);
    collections = enrich(all, report);
    const list = [...all.values()].sort((a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition));
    say(JSON.stringify(list.map((one) => one.alarms)), () => alarmNotes(list));
    shown.read.add(span && span.rate("seendb_ingest_messages_total"), perSecond);
    shown.lag.add(scrape.sum("seendb_ingest_lag"), number);
    shown.refused.set(number(scrape.sum("seendb_ingest_refused_total")), "since the start");
    shown.dead.set(number(scrape.sum("seendb_ingest_dead_letters_total")), "over all openings");
    shown.errors.set(number(scrape.sum("seendb_ingest_errors_total")), "and of the network");
    topics.set(topicsOf(list, scrape));
    partitions.set(list);
  });
}
