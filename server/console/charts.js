// Charts in SVG: a line over time, bars, and the slots of the rings.

import {h, svg} from "./dom.js";
import {bytes, many, number} from "./words.js";

/** A card with a name, the present value and its last five minutes: `add(value, text)`. */
export function lineCard(name, points, everyMs) {
  const values = [];
  const value = h("b", {}, "-");
  const line = svg("polyline", {class: "line"}), area = svg("polygon", {class: "area"});
  const chart = svg("svg", {class: "chart", viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img"}, area, line);
  const most = h("span", {});
  const since = h("span", {}, Math.round(points * everyMs / 60_000) + " min ago");
  const card = h("div", {class: "card"}, h("span", {class: "name"}, name), value, chart,
    h("div", {class: "axis"}, since, most, h("span", {}, "now")));
  /** `number`: null where nothing is known of it. */
  card.add = (amount, textOf) => {
    values.push(amount);
    if (values.length > points) values.shift();
    const known = values.filter((one) => one !== null);
    const top = Math.max(...known, 0);
    const at = (one, i) => ((points - values.length + i) * 100 / (points - 1)).toFixed(2) + "," +
      (29 - (top > 0 ? 27 * (one ?? 0) / top : 0)).toFixed(2);
    const unknown = values.findIndex((one) => one !== null);
    const path = unknown < 0 ? [] : values.map(at).slice(unknown);
    line.setAttribute("points", path.join(" "));
    area.setAttribute("points", path.length > 0 ? [path[0].split(",")[0] + ",30", ...path, "100,30"].join(" ") : "");
    value.textContent = amount === null ? "-" : textOf(amount);
    most.textContent = top > 0 ? "up to " + textOf(top) : "";
    chart.setAttribute("aria-label", name + ": " + value.textContent + ", at most " + textOf(top) + " in this chart");
  };
  return card;
}

/** A card with a name and a value: `set(text, below)`. */
export function valueCard(name) {
  const value = h("b", {}, "-"), below = h("span", {class: "quiet"});
  const card = h("div", {class: "card"}, h("span", {class: "name"}, name), value, below);
  card.set = (text, more = "") => {
    value.textContent = text;
    below.textContent = more;
  };
  return card;
}

/** Bars of [label, amount, class]: `set(list)`. What they say is in `textOf`. */
export function bars(caption, textOf) {
  const box = h("div", {class: "bars", role: "img"});
  box.set = (list) => {
    const most = Math.max(1, ...list.map(([, amount]) => amount));
    box.setAttribute("aria-label", caption + ": " + list.map(([label, amount]) => label + " " + textOf(amount)).join(", "));
    box.replaceChildren(...list.map(([label, amount, kind]) => {
      const height = Math.max(amount > 0 ? 2 : 0, 96 * amount / most);
      return h("div", {class: "bar"}, h("span", {class: "amount"}, textOf(amount)),
        svg("svg", {viewBox: "0 0 10 100", preserveAspectRatio: "none"},
          svg("rect", {class: kind, x: 1, width: 8, y: 100 - height, height})), h("span", {}, label));
    }));
  };
  return box;
}

const STATES = ["free", "current", "closed", "draining", "drained"];

/** Shards side by side, each a column of its slots, filled by their bytes: `set(slots)`. */
export function slotMap() {
  const box = h("div", {class: "slots", role: "img"});
  box.set = (slots, most) => {
    const shards = new Map();
    for (const slot of slots) {
      if (!shards.has(slot.shard)) shards.set(slot.shard, []);
      shards.get(slot.shard).push(slot);
    }
    const counts = STATES.map((state) => [state, slots.filter((one) => one.state === state).length])
      .filter(([, count]) => count > 0);
    box.setAttribute("aria-label", "Slots of " + many(shards.size, "shard") + ": " +
      counts.map(([state, count]) => number(count) + " " + state).join(", "));
    box.replaceChildren(...[...shards].map(([shard, list]) => h("div", {class: "shard"},
      svg("svg", {viewBox: "0 0 20 " + 14 * list.length}, list.flatMap((slot, at) => {
        const fill = slot.bytes > 0 ? Math.max(1, 12 * slot.bytes / most) : 0;
        return [svg("rect", {class: "cell " + slot.state, x: 1, y: 14 * at + 1, width: 18, height: 12},
          svg("title", {}, "shard " + shard + ", slot " + slot.slot + ": " + slot.state + ", " + many(slot.plays, "play") +
            ", " + bytes(slot.bytes))),
        svg("rect", {class: "fill " + slot.state, x: 1, y: 14 * at + 13 - fill, width: 18, height: fill})];
      })), h("span", {}, String(shard)))));
  };
  return box;
}

/** What the colours of the slots mean. */
export function slotLegend() {
  return h("p", {class: "legend"}, STATES.slice(1).map((state) =>
    h("span", {}, svg("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"},
      svg("rect", {class: "fill " + state, width: 10, height: 10})), " " + state)));
}
