// Against a server that refuses, cuts, stalls and lies.

import assert from "node:assert/strict";
import {mkdtempSync, utimesSync, writeFileSync} from "node:fs";
import {AddressInfo, createServer, Server, Socket} from "node:net";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, test} from "node:test";

import {Client, SeenDBError} from "../src/index.js";
import {Options} from "../src/caller.js";
import {LastUsers, Placement, Positions, murmur2} from "../src/routing.js";

const UNSEEN = says(200, '{"unseen":["v"],"seen":0,"examined":1,"degraded":false}');

function says(status: number, body: string, ...headers: string[]): string {
  return ["HTTP/1.1 " + status + " X", "Content-Type: application/json", "Content-Length: " + Buffer.byteLength(body), ...headers].join("\r\n") + "\r\n\r\n" + body;
}

const EMPTY = says(200, '{"unseen":[],"seen":1000,"examined":1000,"degraded":false}');
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

test("a call that may not be made twice is not sent again on a new connection", async () => {
  const liar = await Liar.start(UNSEEN, null, UNSEEN);
  const c = client(liar.url);
  await ask(c);
  await fails("unavailable", c.call("POST", "/anything", {}));
  assert.deepEqual([liar.connections, liar.requests.length], [1, 2]);
});

test("lies and cuts are errors", async () => {
  for (const [text, code] of [
    ["SSH-2.0-OpenSSH\r\n\r\nCUT", "protocol"],
    ["HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nCUT", "protocol"],
    ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nCUT", "unavailable"],
    ["HTTP/1.1 200 OKCUT", "unavailable"],
    [says(200, "<html>"), "protocol"],
    [says(500, "<html>"), "protocol"],
    [says(502, "<html>"), "unavailable"],
    [says(504, "<html>"), "unavailable"],
  ] as const) {
    await fails(code, ask(client((await Liar.start(text)).url, {retries: 0})));
  }
});

test("a server that stalls costs the timeout", async () => {
  const began = Date.now();
  await fails("timeout", ask(client((await Liar.start("STALL")).url, {timeout: 500})));
  assert.ok(Date.now() - began < 8_000);
});

test("the next server is asked where one is away, and costs nothing", async () => {
  const liar = await Liar.start(...Array<string>(60).fill(UNSEEN));
  const gone = await Liar.start();
  gone.close(); // last: its port is free for others from now on
  const tries: number[] = [];
  const c = client([gone.url, liar.url], {retries: 0, onCall: (_, __, ___, count) => tries.push(count)});
  const began = Date.now();
  for (let i = 0; i < 59; ++i) await ask(c);
  assert.ok(tries.filter((count) => count > 1).length <= 2 + (Date.now() - began) / 1_000, "a server that is away comes last for 1 s");
  assert.deepEqual(liar.requests.map((one) => one.headers["seendb-attempt"]).filter(Boolean), []);
  await c.call("POST", "/filter", {});
  await fails("unavailable", ask(client([gone.url, gone.url], {retries: 0})));
});

test("a connect takes a third of the time at most", async () => {
  const mute = createServer(); // takes connections, and never answers TLS
  const held: Socket[] = [];
  mute.on("connection", (socket) => held.push(socket.on("error", () => socket.destroy())));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  open.push({close: () => (mute.close(), held.forEach((socket) => socket.destroy()))});
  const liar = await Liar.start(UNSEEN);
  const c = client(["https://127.0.0.1:" + (mute.address() as AddressInfo).port, liar.url], {timeout: 3_000, retries: 0});
  const began = Date.now();
  await ask(c);
  assert.ok(Date.now() - began >= 900);
  assert.equal(held.length, 1);
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
  liar.texts = [view, UNSEEN, refusal(421, "other_node"), UNSEEN, refusal(503, "busy"), UNSEEN];
  const c = client(liar.url, {cluster: true, retries: 0});
  await ask(c);
  await ask(c); // no second direct call, and the map is not asked for again yet
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await ask(c); // the former map goes on
  assert.deepEqual(liar.requests.map((one) => one.line.split(" ")[1]), ["/cluster", "/filter", "/filter", "/filter", "/cluster", "/filter"]);
  assert.deepEqual(liar.requests.map((one) => one.headers["seendb-route"]), [undefined, "direct", "direct", undefined, undefined, "direct"]);
  assert.deepEqual(liar.requests.map((one) => one.headers["seendb-attempt"]).filter(Boolean), []);
});

test("where a user's node is away, another passes the call on", async () => {
  const liar = await Liar.start();
  const gone = await Liar.start();
  gone.close(); // last: its port is free for others from now on
  liar.texts = [says(200, JSON.stringify({
    partitions: 1, placement_offset: 1, nodes: [{node: "n1", url: gone.url}, {node: "n2", url: liar.url}],
    shards: [{partition: 0, replicas: [{node: "n1"}, {node: "n2"}]}],
  })), UNSEEN, UNSEEN];
  const tries: number[] = [];
  const c = client(liar.url, {cluster: true, retries: 0, onCall: (_, __, ___, count) => tries.push(count)});
  await ask(c);
  await ask(c);
  assert.equal(tries[0], 2);
  assert.deepEqual(liar.requests.map((one) => one.headers["seendb-route"]), [undefined, undefined, undefined]);
});

test("a map that is slow to come leaves time for the call", async () => {
  const liar = await Liar.start("STALL", UNSEEN);
  const began = Date.now();
  await ask(client(liar.url, {cluster: true, timeout: 3_000, retries: 0}));
  assert.ok(Date.now() - began >= 900);
  assert.ok(Number(liar.requests[0]!.headers["seendb-timeout-ms"]) <= 1_000);
});

test("nodes that are up come first, the primary before others", () => {
  const nodes = [{node: "a", url: "http://a", state: "down"}, {node: "b", url: "http://b", state: "up"}, {node: "c", url: "http://c"}];
  const replicas = [{node: "a"}, {node: "c"}, {node: "gone"}, {node: "b"}];
  assert.deepEqual(new Placement({partitions: 1, nodes, shards: [{partition: 0, replicas}]}).urlsOf("u"), ["http://c", "http://b", "http://a"]);
});

test("a position is the largest of each partition", () => {
  const positions = new Positions();
  for (const told of ["3:1042", "5:7", "3:99", "odd"]) positions.note(["u", "u"], told);
  assert.equal(positions.of("u"), "3:1042,5:7");
  positions.note(["u"], "3:9007199254740993,5:8");
  assert.equal(positions.of("u"), "3:9007199254740993,5:8");
  positions.note(["u"], [0, 1, 2, 3, 4, 5, 6, 7, 8].map((partition) => partition + ":1").join(","));
  assert.equal(positions.of("u"), "3:9007199254740993,5:8");
  for (let partition = 10; partition < 17; ++partition) positions.note(["u"], partition + ":1");
  assert.equal(positions.of("u"), "5:8,10:1,11:1,12:1,13:1,14:1,15:1,16:1");
  for (let i = 0; i < 10_000; ++i) positions.note(["u" + i], "1:1");
  assert.deepEqual([positions.of("u"), positions.of("u0")], [undefined, "1:1"]);
});

test("integers that a double does not hold go as text, and come back as bigints", async () => {
  const big = 2n ** 53n + 1n, text = String(2n ** 63n);
  const liar = await Liar.start(says(200, JSON.stringify({unseen: [String(big), text], seen: 0, examined: 2, degraded: false})));
  assert.deepEqual((await client(liar.url).filter(big, [big, text])).unseen, [big, text]);
  const {user, items} = JSON.parse(liar.requests[0]!.body);
  assert.deepEqual([user, items], [String(big), [String(big), text]]);
});

test("a page that fails closed says so to the server", async () => {
  const liar = await Liar.start(UNSEEN, UNSEEN, says(200, "\x01", "SeenDB-Seen: 0", "SeenDB-Examined: 1", "SeenDB-Degraded: 0"));
  const c = client(liar.url, {timeout: 5_000});
  await c.fillPage("u", ["v"], 1);
  await c.fillPage("u", ["v"], 1, {whenDegraded: "failClosed"});
  assert.deepEqual(await c.fillPage("u", [5n], 1, {whenDegraded: "failClosed"}), [5n]);
  const [first, second] = liar.requests.slice(0, 2).map((one) => JSON.parse(one.body));
  assert.deepEqual([first.on_error, second.on_error], [undefined, "fail"]);
  assert.ok(first.deadline_ms > 0 && first.deadline_ms <= 4_000);
  const query = new URLSearchParams(liar.requests[2]!.line.split(/[ ?]/)[2]);
  assert.equal(query.get("on_error"), "fail");
  assert.ok(Number(query.get("deadline_ms")) <= 4_000);
});

test("a page fails open at a limit, and where a proxy has no server", async () => {
  for (const text of [refusal(429, "rate_limited"), says(502, "<html>"), says(504, "<html>")]) {
    const c = client((await Liar.start(EMPTY, text)).url, {retries: 0});
    const candidates = Array.from({length: 4_000}, (_, i) => "c" + i);
    const page = await c.fillPage("u", candidates, 2_500, {exclude: ["c1000"]});
    assert.deepEqual(page, candidates.slice(1_001, 3_501));
  }
});

test("the timeout is one of the whole page", async () => {
  const liar = await Liar.start(EMPTY, "STALL");
  const began = Date.now();
  const page = await client(liar.url).fillPage("u", Array.from({length: 1_500}, (_, i) => "c" + i), 1, {timeout: 2_000});
  assert.deepEqual(page, ["c1000"]);
  assert.ok(Date.now() - began < 8_000);
  const [first, second] = liar.requests.map((one) => Number(one.headers["seendb-timeout-ms"]));
  assert.ok(first! <= 2_000 && second! <= first!);
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
