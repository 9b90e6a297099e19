// Calls a server by @connectrpc/connect-node: call.mjs URL FILE, where FILE has the descriptors of the
// .proto.

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

const [, , baseUrl, file] = process.argv;
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(file)));
const service = registry.getService("seendb.v1.SeenDB");
for (const useBinaryFormat of [true, false]) {
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat });
  const client = createClient(service, transport);
  const user = "node-" + useBinaryFormat;
  const who = { case: "user", value: user };
  const last = 2n ** 64n - 1n;
  const told = await client.recordPlays({ events: [{ who, what: { case: "itemNumber", value: last } }] });
  assert.equal(told.accepted, 1);
  const answer = await client.filter({ who, itemNumbers: [1n, last, 3n] }, { timeoutMs: 20_000 });
  assert.deepEqual([answer.unseenNumbers, answer.seen], [[1n, 3n], 1]);
  const served = await client.recordImpressions({ who, items: ["a", "b"] });
  assert.equal(served.accepted, 2);
  assert.deepEqual((await client.filter({ who, items: ["a", "c"] })).unseen, ["c"]);
  const page = await client.history({ who });
  assert.equal(page.entries.length, 0);
  await assert.rejects(client.filter({}), (error) => {
    assert(error instanceof ConnectError);
    assert.equal(error.code, Code.InvalidArgument);
    const [fault] = error.findDetails(registry.getMessage("seendb.v1.Fault"));
    assert.equal(fault.field, "/user");
    return true;
  });
}
console.log("node: called");
