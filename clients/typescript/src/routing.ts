/** Austin Appleby's MurmurHash2 with Kafka's seed: so Java's producers partition. 32 bits without a sign. */
export function murmur2(data: Uint8Array): number {
  const m = 0x5bd1e995;
  let value = (0x9747b28c ^ data.length) | 0;
  const whole = data.length & ~3;
  for (let at = 0; at < whole; at += 4) {
    let k = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);
    k = Math.imul(k, m);
    k ^= k >>> 24;
    value = Math.imul(value, m) ^ Math.imul(k, m);
  }
  let rest = 0;
  for (let at = data.length - 1; at >= whole; --at) rest = (rest << 8) | data[at]!;
  if (data.length > whole) value = Math.imul(value ^ rest, m);
  value = Math.imul(value ^ (value >>> 13), m);
  return (value ^ (value >>> 15)) >>> 0;
}

/** What GET /cluster says: of each partition the nodes' URLs, those that are up first, the primary before others. */
export class Placement {
  private readonly urls: string[][];

  constructor(told: {partitions: number; nodes: {node: string; url: string; state?: string}[]; shards: {partition: number; replicas: {node: string}[]}[]}) {
    const known = new Map(told.nodes.map((one) => [one.node, one]));
    const away = (state = "up") => Number(state !== "up");
    this.urls = Array.from({length: told.partitions}, () => []);
    for (const shard of told.shards) {
      const nodes = shard.replicas.flatMap((one) => known.get(one.node) ?? []);
      this.urls[shard.partition] = nodes.sort((a, b) => away(a.state) - away(b.state)).map((one) => one.url);
    }
  }

  urlsOf(user: string): string[] {
    if (this.urls.length === 0) return [];
    return this.urls[(murmur2(Buffer.from(user)) & 0x7fffffff) % this.urls.length] ?? [];
  }
}

const USERS_MOST = 10_000;

/** Something of each of the last users. */
export class LastUsers<T> {
  private readonly of = new Map<string, T>();

  get(user: string): T | undefined {
    return this.of.get(user);
  }

  set(user: string, value: T): void {
    this.of.delete(user);
    this.of.set(user, value);
    for (const first of this.of.keys()) {
      if (this.of.size <= USERS_MOST) break;
      this.of.delete(first);
    }
  }
}

const PARTITIONS_MOST = 8; // a batch of more users than that is not read back user by user

/** Of users, the position behind their newest write here ("3:1042,5:7": partition and offset): reads send it, and see that write. */
export class Positions {
  private readonly known = new LastUsers<Map<number, bigint>>();

  note(users: Iterable<string>, position: string): void {
    const told = [...position.matchAll(/(\d+):(\d+)/g)].map(([, partition, offset]) => [Number(partition), BigInt(offset!)] as const);
    if (told.length === 0 || told.length > PARTITIONS_MOST) return;
    for (const user of new Set(users)) {
      const offsets = this.known.get(user) ?? new Map<number, bigint>();
      for (const [partition, offset] of told) { // answers may come in another order
        const before = offsets.get(partition) ?? 0n;
        offsets.delete(partition); // the one that was noted last comes last
        offsets.set(partition, offset > before ? offset : before);
      }
      this.known.set(user, new Map([...offsets].slice(-PARTITIONS_MOST)));
    }
  }

  of(user: string): string | undefined {
    const offsets = this.known.get(user);
    return offsets && [...offsets].sort(([a], [b]) => a - b).map((one) => one.join(":")).join(",");
  }
}
