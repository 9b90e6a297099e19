// Against a server that refuses, cuts, stalls and lies.

import assert from "node:assert/strict";
import {mkdtempSync, utimesSync, writeFileSync} from "node:fs";
import {AddressInfo, createServer, Server, Socket} from "node:net";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, test} from "node:test";

import {Client, SeenDBError} from "../src/index.js";
import {Options} from "../src/caller.js";
import {LastUsers, murmur2} from "../src/routing.js";

const UNSEEN = says(200, '{"unseen":["v"],"seen":0,"examined":1,"degraded":false}');

function says(status: number, body: string, ...headers: string[]): string {
  return ["HTTP/1.1 " + status + " X", "Content-Type: application/json", "Content-Length: " + Buffer.byteLength(body), ...headers].join("\r\n") + "\r\n\r\n" + body;
}

const refusal = (status: number, code: string, ...headers: string[]) => says(status, JSON.stringify({error: {code, message: "no", field: ""}}), ...headers);

interface Request {
  line: string;
  headers: Record<string, string>;
  body: string;
}

const open: {close(): void}[] = [];
after(() => open.forEach((one) => one.close()));

/** Answers request after request from a list: null closes without an answer, a text that ends in CUT is sent without that. */
class Liar {
  readonly requests: Request[] = [];
  connections = 0;
  url = "";
  private constructor(public texts: (string | null | "STALL")[], private readonly server: Server, private readonly sockets = new Set<Socket>()) {}

  static async start(...texts: (string | null)[]): Promise<Liar> {
    const server = createServer();
    const liar = new Liar(texts, server);
    server.on("connection", (socket) => liar.serve(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    liar.url = "http://127.0.0.1:" + (server.address() as AddressInfo).port;
    open.push(liar);
    return liar;
  }

  private serve(socket: Socket): void {
    ++this.connections;
    this.sockets.add(socket);
    let data = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (part) => {
      data = Buffer.concat([data, part]);
      for (;;) {
        const end = data.indexOf("\r\n\r\n");
        if (end < 0) return;
        const [line, ...rest] = data.subarray(0, end).toString().split("\r\n");
        const headers = Object.fromEntries(rest.map((one) => [one.slice(0, one.indexOf(":")).toLowerCase(), one.slice(one.indexOf(":") + 2)]));
        const length = Number(headers["content-length"] ?? 0);
        if (data.length < end + 4 + length) return;
        this.requests.push({line: line!, headers, body: data.subarray(end + 4, end + 4 + length).toString()});
        data = data.subarray(end + 4 + length);
        const text = this.texts.shift();
        if (text === "STALL") return;
        if (text === null || text === undefined) return void socket.destroy();
        if (text.endsWith("CUT")) return void socket.end(text.slice(0, -3));
        socket.write(text);
      }
    });
  }

  close(): void {
    this.server.close();
    this.sockets.forEach((socket) => socket.destroy());
  }
}

function client(urls: string | string[], options: Options = {}): Client {
  const made = new Client(urls, {timeout: 10_000, ...options});
  open.push(made);
  return made;
}

const ask = async (c: Client) => assert.deepEqual((await c.filter("u", ["v"])).unseen, ["v"]);
const fails = (code: string, promise: Promise<unknown>) =>
  assert.rejects(promise, (error) => error instanceof SeenDBError && error.code === code || (console.log(error), false));

test("a refusal is waited for and asked again", async () => {
  for (const status of [429, 503]) {
    const liar = await Liar.start(refusal(status, "overloaded", "SeenDB-Retry-After-Ms: 30"), UNSEEN);
    const began = Date.now();
    await ask(client(liar.url));
    assert.ok(Date.now() - began >= 30);
    assert.deepEqual(liar.requests.map((one) => one.headers["seendb-attempt"]), [undefined, "1"]);
  }
});

test("second tries have a budget", async () => {
  const liar = await Liar.start(...Array<string>(200).fill(refusal(503, "overloaded")));
  const c = client(liar.url);
  for (let i = 0; i < 50; ++i) await fails("overloaded", ask(c));
  assert.ok(liar.requests.length <= 65);
});

test("what is wrong is not asked again", async () => {
  for (const status of [400, 401, 403, 404, 409, 413, 415, 500]) {
    const liar = await Liar.start(refusal(status, "no"), UNSEEN);
    await fails("no", ask(client(liar.url)));
    assert.equal(liar.requests.length, 1);
  }
});

test("a play keeps its time over both tries, and reads see it", async () => {
  const liar = await Liar.start(null, says(200, '{"accepted":1,"refused":0,"refusals":[]}', "SeenDB-Position: 3:7"), UNSEEN);
  const c = client(liar.url);
  await c.recordPlays([{user: "u", item: "v"}]);
  assert.equal(liar.requests[0]!.body, liar.requests[1]!.body);
  await ask(c);
  assert.equal(liar.requests[2]!.headers["seendb-position"], "3:7");
});

test("a connection that was closed while idle is opened anew", async () => {
  const liar = await Liar.start(UNSEEN, null, UNSEEN);
  const c = client(liar.url, {retries: 0});
  await ask(c);
  await ask(c);
  assert.equal(liar.connections, 2);
});

test("lies and cuts are errors", async () => {
  for (const [text, code] of [
    ["SSH-2.0-OpenSSH\r\n\r\nCUT", "protocol"],
    ["HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nCUT", "protocol"],
    ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nCUT", "unavailable"],
    ["HTTP/1.1 200 OKCUT", "unavailable"],
    [says(200, "<html>"), "protocol"],
    [says(500, "<html>"), "protocol"],
  ] as const) {
    await fails(code, ask(client((await Liar.start(text)).url, {retries: 0})));
  }
});

test("a server that stalls costs the timeout", async () => {
  const began = Date.now();
  await fails("timeout", ask(client((await Liar.start("STALL")).url, {timeout: 500})));
  assert.ok(Date.now() - began < 8_000);
});

test("the next server is asked where one is away", async () => {
  const gone = await Liar.start();
  gone.close();
  const liar = await Liar.start(UNSEEN, UNSEEN, UNSEEN);
  const c = client([gone.url, liar.url]);
  for (let i = 0; i < 3; ++i) await ask(c);
  await fails("unavailable", ask(client(gone.url)));
});

test("a token is read again when its file changes", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "seendb-")), "token");
  const liar = await Liar.start(UNSEEN, UNSEEN);
  const c = client(liar.url, {tokenFile: path});
  for (const [i, token] of ["first", "second"].entries()) {
    writeFileSync(path, token + "\n");
    utimesSync(path, i + 1, i + 1);
    await ask(c);
    assert.equal(liar.requests[i]!.headers.authorization, "Bearer " + token);
  }
});

test("a cluster's node is asked directly", async () => {
  const liar = await Liar.start();
  const view = says(200, JSON.stringify({
    partitions: 4, placement_offset: 1, nodes: [{node: "n1", url: liar.url}],
    shards: [0, 1, 2, 3].map((partition) => ({partition, replicas: [{node: "n1"}]})),
  }));
  liar.texts = [view, UNSEEN, refusal(421, "other_node"), view, UNSEEN];
  const c = client(liar.url, {cluster: true, retries: 0});
  await ask(c);
  await ask(c);
  assert.deepEqual(liar.requests.map((one) => one.line.split(" ")[1]), ["/cluster", "/filter", "/filter", "/cluster", "/filter"]);
  assert.deepEqual(liar.requests.map((one) => one.headers["seendb-route"]), [undefined, "direct", "direct", undefined, undefined]);
});

test("a page whose server is away", async () => {
  const liar = await Liar.start(says(200, '{"unseen":["a","c"],"seen":1,"examined":3,"degraded":false}'), ...Array<string>(3).fill(refusal(503, "overloaded")));
  const c = client(liar.url, {retries: 0});
  const page = (whenDegraded: "failOpen" | "failClosed" | "lastKnown") => c.fillPage("u", ["a", "b", "c", "d"], 2, {whenDegraded});
  assert.deepEqual(await page("failOpen"), ["a", "c"]);
  assert.deepEqual(await page("lastKnown"), ["b", "d"]);
  assert.deepEqual(await page("failOpen"), ["a", "b"]);
  await fails("overloaded", page("failClosed"));
});

test("each call is told, and a closed client says so", async () => {
  const told: unknown[][] = [];
  const c = client((await Liar.start(refusal(503, "busy"), UNSEEN)).url, {onCall: (name, _, status, tries) => told.push([name, status, tries])});
  await ask(c);
  assert.deepEqual(told, [["filter", 200, 2]]);
  c.close();
  await fails("closed", ask(c));
});

test("numbers, odd texts and addresses are refused", async () => {
  const c = client("http://127.0.0.1:1");
  for (const [user, items, field] of [["", ["v"], "/user"], ["u", ["v", ""], "/items/1"], ["u", [5], "/items/0"], ["u", [-1n], "/items/0"],
    ["u", [2n ** 64n], "/items/0"], ["u", ["\ud800"], "/items/0"], ["u", ["x".repeat(256)], "/items/0"]] as [string, string[], string][]) {
    await assert.rejects(c.filter(user, items), (error) => error instanceof SeenDBError && error.field === field);
  }
  for (const url of ["h:7373", "ftp://h", "unix:"]) assert.throws(() => new Client(url), TypeError);
});

test("murmur2 is Kafka's", () => {
  for (const [text, value] of [["21", -973932308], ["foobar", -790332482], ["a-little-bit-long-string", -985981536],
    ["a-little-bit-longer-string", -1486304829], ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971], ["abc", 479470107]] as const) {
    assert.equal(murmur2(Buffer.from(text)) | 0, value, text);
  }
});

test("only the last users are remembered", () => {
  const users = new LastUsers<number>();
  for (let i = 0; i < 10_005; ++i) users.set("u" + i, i);
  assert.deepEqual([users.get("u4"), users.get("u5")], [undefined, 5]);
});
