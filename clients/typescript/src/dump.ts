import {SeenDBError} from "./errors.js";

const RING = 1, IMPRESSIONS = 2, EXPOSURES = 3, RECORD = 4, MARKS = 5, BUCKET = 6;
const HEAD_BYTES = 54, ENTRY_BYTES = 32, FINGERPRINT_BYTES = 6, BLOCK_BYTES = 64, LAYERS_MOST = 32;
const ALWAYS = 2n ** 63n - 1n;
const SALTS = [0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B, 0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19];
const TWO_32 = 2 ** 32;

function damaged(why: string): SeenDBError {
  return new SeenDBError("protocol", "the dump of a filter " + why);
}

/** The upper 32 bits of the product of two numbers of 32. */
function mulHigh(one: number, other: number): number {
  const low = one & 0xFFFF, high = one >>> 16, otherLow = other & 0xFFFF, otherHigh = other >>> 16;
  const first = low * otherHigh + ((low * otherLow) >>> 16), second = high * otherLow + (first % 0x10000);
  return high * otherHigh + Math.floor(first / 0x10000) + Math.floor(second / 0x10000);
}

/** A layer of blocks. */
class Blocks {
  constructor(private readonly count: number, private readonly bits: Uint8Array) {}

  /** `high` and `low`: the halves of the item's hash. */
  has(high: number, low: number): boolean {
    let at = mulHigh(high, this.count) * BLOCK_BYTES;
    for (const salt of SALTS) {
      const bit = Math.imul(low, salt) >>> 26;
      if (((this.bits[at + (bit >>> 3)]! >>> (bit & 7)) & 1) === 0) return false;
      at += 8;
    }
    return true;
  }
}

function has(list: Float64Array, item: number): boolean {
  let begin = 0, end = list.length;
  while (begin < end) {
    const middle = (begin + end) >>> 1;
    if (list[middle]! < item) begin = middle + 1;
    else end = middle;
  }
  return begin < list.length && list[begin] === item;
}

/** Reads on while there is enough. */
class Reader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  private pass(size: number): number {
    if (size > this.left) throw damaged("is cut off");
    this.at += size;
    return this.at - size;
  }

  take(size: number): Uint8Array {
    const at = this.pass(size);
    return this.bytes.subarray(at, at + size);
  }

  text(size: number): string {
    return Buffer.from(this.take(size)).toString();
  }

  u8(): number {
    return this.view.getUint8(this.pass(1));
  }

  u16(): number {
    return this.view.getUint16(this.pass(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.pass(4), true);
  }

  u64(): bigint {
    return this.view.getBigUint64(this.pass(8), true);
  }

  list(count: number): Float64Array {
    if (count > this.left / FINGERPRINT_BYTES) throw damaged("is cut off");
    const list = new Float64Array(count);
    for (let i = 0; i < count; ++i) {
      list[i] = this.u32() + this.u16() * TWO_32;
      if (i > 0 && list[i - 1]! >= list[i]!) throw damaged("has a list out of order");
    }
    return list;
  }
}

/** One part: its items, or its marks (until when, in ms). */
class Part {
  readonly marks = new Map<string, bigint>();
  private readonly lists: Float64Array[] = [];
  private readonly layers: Blocks[] = [];

  constructor(readonly kind: number, body: Uint8Array) {
    const reader = new Reader(body), count = reader.u32();
    if (kind === MARKS) this.readMarks(reader, count);
    else this.readItems(reader, count);
    if (reader.left > 0) throw damaged("has a part that is longer than it says");
  }

  private readMarks(reader: Reader, count: number): void {
    for (let i = 0; i < count; ++i) {
      const size = reader.u8(), until = BigInt.asIntN(64, reader.u64());
      this.marks.set(reader.text(size), until);
    }
  }

  private readItems(reader: Reader, count: number): void {
    const layers = this.kind === BUCKET ? reader.u32() : 0;
    if (layers > LAYERS_MOST) throw damaged("has too many layers");
    const sizes: [number, number][] = [];
    for (let i = 0; i < layers; ++i) sizes.push([reader.u32(), reader.u32()]);
    this.lists.push(reader.list(count));
    for (const [blocks, items] of sizes) {
      if (blocks === 0) this.lists.push(reader.list(items));
      else this.layers.push(new Blocks(blocks, reader.take(BLOCK_BYTES * blocks).slice()));
    }
  }

  has(item: number, high: number, low: number): boolean {
    for (const list of this.lists) if (has(list, item)) return true;
    for (const one of this.layers) if (one.has(high, low)) return true;
    return false;
  }
}

const hex = (value: bigint) => value.toString(16).padStart(16, "0");

/** A user's filter in one collection (engine/doc/filter-dump.md). It never changes. */
export class Dump {
  readonly degraded: boolean;
  readonly missing: string[] = [];
  readonly keyId: bigint;
  readonly hashVersion: number;
  readonly etag: string;
  private readonly parts = new Map<bigint, Part>();
  private readonly shown: Part[] = [];
  private readonly played: Part[] = [];
  private readonly record: Part[] = [];
  private marks = new Map<string, bigint>();

  /** `former` has the parts that this one leaves out. */
  constructor(body: Uint8Array, former?: Dump) {
    if (body.length < HEAD_BYTES) throw damaged("is cut off");
    const reader = new Reader(body), magic = reader.text(6), version = reader.u8(), flags = reader.u8();
    if (magic !== "SeenFD" || version !== 1 || flags > 1) throw damaged("is not of version 1");
    this.degraded = flags === 1;
    reader.take(24); // times
    this.keyId = reader.u64();
    const names = [reader.u64()];
    this.hashVersion = reader.u16();
    const count = reader.u16(), labels = reader.u16();
    for (let i = 0; i < labels; ++i) this.missing.push(reader.text(reader.u8()));
    const entries = new Reader(reader.take(ENTRY_BYTES * count));
    for (let i = 0; i < count; ++i) {
      const kind = entries.u8(), sent = entries.u8();
      entries.take(2);
      const size = entries.u32(), hash = entries.u64();
      entries.take(16); // the bucket
      if (kind < RING || kind > BUCKET || sent > 1 || (sent === 0 && size > 0)) throw damaged("has a part that this client does not know");
      const part = sent === 1 ? new Part(kind, reader.take(size)) : former?.parts.get(hash);
      if (part?.kind !== kind) throw damaged("leaves out a part that was never sent");
      names.push(hash);
      this.add(hash, part);
    }
    if (reader.left > 0) throw damaged("is longer than it says");
    this.etag = '"' + names.map(hex).join("-") + '"';
  }

  private add(hash: bigint, part: Part): void {
    this.parts.set(hash, part);
    if (part.kind === IMPRESSIONS || part.kind === EXPOSURES) this.shown.push(part);
    else if (part.kind === RECORD) this.record.push(part);
    else if (part.kind === MARKS) this.marks = part.marks;
    else this.played.push(part);
  }

  /** Whether a fingerprint was served, exposed or played. */
  seen(item: number): boolean {
    // The halves of hash ^ hash >> 32, where hash is the item times 0x9E3779B97F4A7C15.
    const itemLow = item % TWO_32, itemHigh = Math.floor(item / TWO_32);
    const high = (mulHigh(itemLow, 0x7F4A7C15) + Math.imul(itemLow, 0x9E3779B9) + Math.imul(itemHigh, 0x7F4A7C15)) >>> 0;
    const low = Math.imul(itemLow, 0x7F4A7C15) ^ high;
    for (const part of this.shown) if (part.has(item, high, low)) return true;
    for (const part of this.played) if (part.has(item, high, low)) return !this.record.some((one) => one.has(item, high, low));
    return false;
  }

  /** Whether groups are marked far enough, and whether a time that is not known would tell. */
  marked(groups: readonly string[], at: number | undefined): {marked: boolean; undated: boolean} {
    let undated = false;
    for (const group of groups) {
      const until = this.marks.get(group);
      if (until === undefined) continue;
      if (until === ALWAYS || (at !== undefined && until >= at)) return {marked: true, undated: false};
      undated = at === undefined;
    }
    return {marked: false, undated};
  }
}
