// Who holds what: nodes as rows, partitions as columns.

import {h, id, svg} from "./dom.js";
import {pager} from "./table.js";
import {many, number} from "./words.js";

const NODES = 16, PARTITIONS = 64;  // of a page
// [state, height of its cell, what it means]: the height says it where colours do not.
const STATES = [["serving", 12, "serves"], ["behind", 8, "lacks the newest of the log"],
  ["catching_up", 6, "reads on in the log"], ["fetching", 4, "is being copied"], ["unreachable", 2, "can't be asked"]];
const HEIGHT = new Map(STATES.map(([state, height]) => [state, height]));

/** The cell of a replica in column `at`. */
function cell(state, first, at, ...says) {
  const known = HEIGHT.has(state) ? state : "unreachable", height = HEIGHT.get(known);
  const dot = svg("circle", {class: "first", cx: 12 * at + 6, cy: 13 - height / 2, r: Math.min(2.5, height / 2)});
  return [svg("rect", {class: "replica " + known, x: 12 * at + 1, y: 13 - height, width: 10, height}, ...says), ...(first ? [dot] : [])];
}

export function replicaLegend() {
  const sample = (state, first, says) =>
    h("span", {}, svg("svg", {viewBox: "0 0 12 14", "aria-hidden": "true"}, cell(state, first, 0)), " " + says);
  return h("p", {class: "legend"}, STATES.map(([state, , says]) => sample(state, false, says)),
    sample("serving", true, "the primary: the first to be asked"));
}

function row(node, held, partitions) {
  const here = partitions.filter((one) => held.has(one));
  const firsts = here.filter((one) => held.get(one).first).length;
  const serving = here.filter((one) => held.get(one).state === "serving").length;
  const chart = svg("svg", {class: "replicas", viewBox: "0 0 " + 12 * Math.max(16, partitions.length) + " 14",
    preserveAspectRatio: "xMinYMid meet", role: "img", "aria-label": many(here.length, "replica") + ", " + number(serving) +
      " of them serve, " + number(firsts) + " are primaries"});
  partitions.forEach((partition, at) => {
    chart.append(svg("rect", {class: "cell", x: 12 * at + 1, y: 1, width: 10, height: 12}));
    const one = held.get(partition);
    if (!one) return;
    const says = "partition " + partition + ": " + one.state + (one.first ? ", primary" : "") + (one.leaving ? ", leaving" : "");
    chart.append(...cell(one.state, one.first, at, svg("title", {}, says)));
  });
  return h("div", {class: "maprow"}, id(node), chart);
}

/** `set(nodes, shards)`: as GET /cluster has them. */
export function replicaMap() {
  const rows = h("div", {}), columns = h("p", {class: "quiet"});
  let held = new Map(), nodes = [], partitions = [], had = "";
  const draw = () => {
    rows.replaceChildren(...nodes.map((node) => row(node, held.get(node) || new Map(), partitions)));
    columns.textContent = partitions.length === 0 ? "" : "Columns: partitions " + partitions[0] + " to " + partitions.at(-1) + ".";
  };
  const nodePages = pager("Nodes", NODES, (some) => { nodes = some; draw(); });
  const partitionPages = pager("Partitions of the map", PARTITIONS, (some) => { partitions = some; draw(); });
  const box = h("div", {}, rows, columns, h("div", {class: "row"}, nodePages, partitionPages));
  box.set = (all, shards) => {
    const key = JSON.stringify([all.map((one) => one.node),
      shards.map((shard) => shard.replicas.map((one) => [one.node, one.state, one.leaving]))]);
    if (key === had) return;
    had = key;
    held = new Map(all.map((one) => [one.node, new Map()]));
    for (const shard of shards) {
      shard.replicas.forEach((one, at) => {
        if (!held.has(one.node)) held.set(one.node, new Map());  // forgotten, and still in a list
        held.get(one.node).set(shard.partition, {...one, first: at === 0});
      });
    }
    nodePages.set([...held.keys()]);
    partitionPages.set(shards.map((one) => one.partition));
  };
  return box;
}
