// What /readyz says is wrong, with what to do.

import {h, note} from "./dom.js";

// [what a problem says, what to do about it]
const ADVICE = [
  [/clock/i, "Look at the machine's clock. If it is right, confirm it: POST /admin/clock/confirm."],
  [/read-only|disk full|no space/i, "Free space on the disk, or make the disk larger; the shard tries again by itself."],
  [/damaged|lost|could not be recovered/i, "seendb verify names what is damaged; with a checkpoint or a replica it can be brought back."],
  [/audit/i, "Calls about persons are refused or wait until the audit's file can be written: look at its folder and disk."],
  [/beyond loopback|without (TLS|tokens)|tokens_file|exposed/i, "Set tls and tokens_file (or client_ca), or listen on 127.0.0.1."],
  [/does not answer|no node leads/i, "Look whether that node runs and is reached: the page Cluster."],
  [/kafka|broker|topic|partition|consum|log keeps/i, "Look at the brokers, and at the page Ingest."],
  [/being opened/i, "It ends by itself."],
];

export function problemNotes(ready) {
  const notes = (ready.problems || []).map((problem) => {
    const [, advice] = ADVICE.find(([what]) => what.test(problem)) || [];
    return note("bad", h("strong", {}, "Problem: "), h("bdi", {}, problem), advice ? h("div", {}, advice) : null);
  });
  if (ready.degraded) {
    notes.push(note("warn", "Answers may be degraded: not everything can be read or written."));
  }
  if (ready.overloaded) {
    notes.push(note("warn", h("strong", {}, "Overloaded: "), "less important requests are refused with 503. ",
      "Fewer candidates per request, or more machines, help."));
  }
  if (notes.length === 0) notes.push(note("fine", "No problems."));
  return notes;
}
