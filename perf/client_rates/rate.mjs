// Prints calls a second of the client and of Node's http for each case: for perf/clients.py, with its arguments.

import {readFileSync} from "node:fs";
import http from "node:http";
import {Client} from "seendb";

const [folder, ...given] = process.argv.slice(2);
const [rounds, ...counts] = given.map(Number);
const url = process.env.SEENDB_URL;
const client = new Client(url, {timeout: 30_000});
const numbers = Array.from({length: 5_000}, (_, n) => BigInt(n)), texts = Array.from({length: 500}, (_, n) => "video-" + n);
const calls = [() => client.filter(1n, numbers), () => client.filter("u", texts), () => client.recordPlays([{user: "p", item: "v"}])];
const agent = new http.Agent({keepAlive: true, maxSockets: 1});

function bare(number) {
  const [target, ...lines] = readFileSync(`${folder}/${number}.head`, "latin1").trim().split("\n");
  const body = readFileSync(`${folder}/${number}.body`);
  const headers = Object.fromEntries(lines.map((line) => line.split(": ")));
  headers["content-length"] = String(body.length);
  const {hostname, port} = new URL(url);
  return () =>
    new Promise((resolve, reject) => {
      const request = http.request({agent, hostname, port, path: target, method: "POST", headers}, (answer) => {
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () => (answer.statusCode === 200 && Buffer.concat(parts).length > 0 ? resolve() : reject(new Error(String(answer.statusCode)))));
      });
      request.on("error", reject);
      request.end(body);
    });
}

async function rate(call, count) {
  const begin = performance.now();
  for (let i = 0; i < count; ++i) await call();
  return (count * 1_000) / (performance.now() - begin);
}

const median = (rates) => rates.slice(rates.length / 2).sort((a, b) => a - b)[rates.length >> 2];

for (const [number, call] of calls.entries()) {
  if (rounds === 0) {
    await call();
    continue;
  }
  const ask = bare(number), own = [], others = [];
  for (let round = 0; round < rounds; ++round) {
    own.push(await rate(call, counts[number]));
    others.push(await rate(ask, counts[number]));
  }
  console.log(median(own), median(others));
}
client.close();
agent.destroy();
