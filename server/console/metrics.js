// Prometheus' text, as /metrics has it.

/** [name, {label: value}, number] of each line. */
export function samplesOf(text) {
  const samples = [];
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name] = value.replace(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter));
    }
    samples.push([match[1], labels, match[3] === "+Inf" ? Infinity : Number(match[3])]);
  }
  return samples;
}

/** Sums of one look at the metrics. */
export class Scrape {
  constructor(text, atMs) {
    this.atMs = atMs;
    this.byName = new Map();
    for (const sample of samplesOf(text)) {
      if (!this.byName.has(sample[0])) this.byName.set(sample[0], []);
      this.byName.get(sample[0]).push(sample);
    }
  }
  of(name) {
    return this.byName.get(name) || [];
  }
  sum(name, fits = () => true) {
    return this.of(name).reduce((all, [, labels, value]) => (fits(labels) ? all + value : all), 0);
  }
}

/** What happened between two looks at one process; null of a process that began meanwhile. */
export class Span {
  static between(before, now) {
    const began = "process_start_time_seconds";
    if (before === null || before.sum(began) !== now.sum(began) || now.atMs <= before.atMs) return null;
    return new Span(before, now);
  }
  constructor(before, now) {
    this.before = before;
    this.now = now;
    this.seconds = (now.atMs - before.atMs) / 1_000;
  }
  grown(name, fits) {
    return Math.max(0, this.now.sum(name, fits) - this.before.sum(name, fits));
  }
  rate(name, fits) {
    return this.grown(name, fits) / this.seconds;
  }
  /** The edge of a histogram below which a share of what was counted lies; null: nothing was. */
  quantile(share, name, fits) {
    const grown = new Map();
    for (const [scrape, sign] of [[this.now, 1], [this.before, -1]]) {
      for (const [, labels, value] of scrape.of(name + "_bucket")) {
        if (!fits(labels)) continue;
        const le = labels.le === "+Inf" ? Infinity : Number(labels.le);
        grown.set(le, (grown.get(le) || 0) + sign * value);
      }
    }
    const all = grown.get(Infinity) || 0;
    if (all <= 0) return null;
    return [...grown.keys()].sort((a, b) => a - b).find((edge) => grown.get(edge) >= share * all);
  }
}
