// Cluster: nodes, who holds which partition, what moves, how far behind the log. All of it as the node sees it that is asked.

import * as api from "./api.js";
import {lineCard, valueCard} from "./charts.js";
import {h, id, note, quiet, saidOnce} from "./dom.js";
import {Scrape, Span} from "./metrics.js";
import {replicaLegend, replicaMap} from "./replica_map.js";
import {liveTable} from "./table.js";
import {EVERY_MS, watch} from "./watch.js";
import {age, bytes, many, number, perSecond, percent} from "./words.js";

const KEPT = 150;  // points: five minutes
const LEAST_MARGIN_S = 12 * 3_600;  // below it /readyz has a problem, too

const replicasOf = (cluster) => cluster.shards.flatMap((shard) =>
  shard.replicas.map((one, at) => ({...one, partition: shard.partition, first: at === 0})));

const needsLook = (one) => one.state !== "serving" || one.cut_off || one.leaving || one.copy;

/** What there is to say of a replica that does not just serve. */
function stateOf(one) {
  return [one.state.replace("_", " "), one.first ? "primary" : "", one.leaving ? "leaving: others take its place" : "",
    one.cut_off ? "no way to the log" : ""].filter((part) => part !== "").join(", ");
}

function copyOf({copy}) {
  if (!copy) return "";
  const left = copy.bytes_per_s > 0 ? ", " + age((copy.total - copy.bytes) / copy.bytes_per_s) + " left" : "";
  return bytes(copy.bytes) + " of " + bytes(copy.total) + (copy.total > 0 ? " (" + percent(copy.bytes / copy.total) + ")" : "") + ", " +
    bytes(copy.bytes_per_s) + "/s" + left;
}

const behind = (one) => (one.behind_ms === undefined ? "not known" : age(one.behind_ms / 1_000));

/** For how long the log keeps what this node applies next, in seconds; null: not known. */
function marginOf(scrape) {
  const [sample] = scrape.of("seendb_log_margin_seconds");
  return sample ? Math.max(0, sample[2]) : null;
}

/** What a person is to look at, in sentences. */
function problemsOf(cluster, scrape) {
  const out = [];
  const away = cluster.nodes.filter((one) => one.state !== "up");
  if (away.length > 0) {
    const names = away.slice(0, 8).flatMap((one, at) => [at > 0 ? ", " : "", id(one.node), " (" + one.state + ")"]);
    out.push(note("bad", many(away.length, "node is", "nodes are"), " not up: ", names, away.length > 8 ? " and others" : "",
      ". Others lead in their place."));
  }
  const leaderless = scrape.sum("seendb_cluster_leaderless_partitions");
  if (leaderless > 0) {
    out.push(note("bad", many(leaderless, "partition has", "partitions have"),
      " no node that leads: writes there are answered 503."));
  }
  const margin = marginOf(scrape);
  if (margin !== null && margin < LEAST_MARGIN_S) {
    out.push(note("bad", "The log keeps what this node applies next for " + age(margin) +
      " more. Beyond that it has to copy other nodes' shards."));
  }
  if (cluster.placement_offset < 0) {
    out.push(note("warn", "Nothing is placed yet: seendb cluster rebalance spreads the shards over the nodes."));
  }
  return out.length > 0 ? out : [note("fine", "All nodes are up, and each partition has one that leads.")];
}

const cards = () => ({
  nodes: valueCard("Nodes that are up"), serving: valueCard("Replicas that serve"), copies: valueCard("Copies under way"),
  margin: valueCard("The log keeps what comes next for"), behind: lineCard("Most behind the log", KEPT, EVERY_MS),
  passed: lineCard("Requests passed on", KEPT, EVERY_MS), failed: lineCard("Records that the log did not take", KEPT, EVERY_MS),
});

function fill(shown, cluster, replicas, scrape, span) {
  shown.nodes.set(number(cluster.nodes.filter((one) => one.state === "up").length) + " of " + number(cluster.nodes.length));
  shown.serving.set(number(replicas.filter((one) => one.state === "serving").length) + " of " + number(replicas.length));
  const most = replicas.reduce((all, one) => (one.behind_ms > all ? one.behind_ms : all), 0);
  shown.behind.add(most / 1_000, age);
  const copies = replicas.filter((one) => one.copy);
  shown.copies.set(number(copies.length), copies.length > 0
    ? bytes(copies.reduce((all, {copy}) => all + copy.total - copy.bytes, 0)) + " still to come" : "");
  shown.passed.add(span && span.rate("seendb_cluster_proxied_total"), perSecond);
  shown.failed.add(span && span.rate("seendb_cluster_append_failures_total"), perSecond);
  const margin = marginOf(scrape);
  shown.margin.set(margin === null ? "not known" : age(margin), "by the retention of its topic");
}

export async function clusterPage(page) {
  const trouble = h("div", {}), top = h("div", {}), named = h("p", {class: "quiet"}), shown = cards();
  const map = replicaMap(), say = saidOnce(top), name = saidOnce(named);
  let counts = new Map(), before = null, alone = null;
  const nodes = liveTable("Nodes", ["Node", "State", "Zone", ["Replicas", "number"], ["Serve", "number"], ["Primaries", "number"],
    ["Weight", "number"], "Version", "Address"], (one) => {
    const held = counts.get(one.node) || {all: 0, serving: 0, first: 0};
    return [id(one.node), one.state + (one.leaving ? ", leaving" : ""), id(one.zone), number(held.all), number(held.serving),
      number(held.first), number(one.weight), one.build, id(one.url)];
  });
  const looks = liveTable("Replicas that move or do not serve", [["Partition", "number"], "Node", "State", ["Behind", "number"], "Copied"],
    (one) => [String(one.partition), id(one.node), stateOf(one), behind(one), copyOf(one)]);
  const all = liveTable("All replicas", [["Partition", "number"], "Node", "State", ["Behind", "number"], ["Next of the log", "number"]],
    (one) => [String(one.partition), id(one.node), stateOf(one), behind(one),
      one.next_offset === undefined ? "not known" : number(one.next_offset)]);
  const still = quiet("All replicas serve, and none moves.");
  const below = h("div", {hidden: true}, named, h("div", {class: "cards"}, Object.values(shown)),
    h("h2", {}, "Who holds what"), replicaLegend(), map, h("h2", {}, "What moves, or does not serve"), still, looks,
    h("h2", {}, "Nodes"), nodes, h("details", {}, h("summary", {}, "All replicas as a table"), all));
  page.append(h("h1", {}, "How is the cluster?"), trouble, top, below);

  return watch(trouble, async (turns) => {
    if (turns === 0) before = alone = null;
    if (alone) return;  // as long as the process runs
    const [cluster, text] = await Promise.all([api.call("GET", "/cluster").catch((error) => {
      if (error.status !== 404) throw error;
      return null;
    }), api.text("/metrics", EVERY_MS * 5)]);
    alone = cluster === null;
    if (!page.isConnected) return;
    below.hidden = alone;
    if (alone) return say("alone", () => [note("", "This server is by itself, and no node of a cluster.")]);
    const scrape = new Scrape(text, performance.now()), replicas = replicasOf(cluster);
    fill(shown, cluster, replicas, scrape, Span.between(before, scrape));
    before = scrape;
    const found = problemsOf(cluster, scrape);
    say(found.map((one) => one.textContent).join("\n"), () => found);
    name(cluster.name + cluster.brokers, () => ["Cluster ", id(cluster.name), ": " +
      many(cluster.partitions, "partition") + ", " + many(cluster.replicas, "replica") + " of each, its log at ",
    id(cluster.brokers), ". All as this node sees it."]);
    counts = new Map();
    for (const one of replicas) {
      const held = counts.get(one.node) || {all: 0, serving: 0, first: 0};
      counts.set(one.node, {all: held.all + 1, serving: held.serving + (one.state === "serving"), first: held.first + one.first});
    }
    map.set(cluster.nodes, cluster.shards);
    const moving = replicas.filter(needsLook);
    still.hidden = moving.length > 0;
    looks.hidden = moving.length === 0;
    looks.set(moving);
    nodes.set(cluster.nodes);
    all.set(replicas);
  });
}
