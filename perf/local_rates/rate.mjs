// Prints candidates a second of numbers and of texts, and how many of all were unseen: for `run`, with its arguments.

import {Client} from "seendb";

const [items, pages, page, rounds] = process.argv.slice(2).map(Number);
const client = new Client(process.env.SEENDB_URL, {timeout: 60_000});
const local = await client.localFilter("u", {refresh: null});
let unseen = 0;

function rate(make) {
  const asked = Array.from({length: pages}, (_, p) => Array.from({length: page}, (_, i) => make(((p * page + i) * 7_919) % items)));
  const rates = [];
  for (let round = 0; round < rounds; ++round) {
    const begin = performance.now();
    for (const one of asked) unseen += local.filter(one).unseen.length;
    rates.push((pages * page * 1_000) / (performance.now() - begin));
  }
  return rates.slice(rounds / 2).sort((a, b) => a - b)[rounds >> 2];
}

console.log(rate((n) => BigInt(n)), rate((n) => "v" + n), unseen);
client.close();
