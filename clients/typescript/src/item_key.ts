import {readFileSync} from "node:fs";

import {refuse} from "./errors.js";
import {Id} from "./ids.js";

/** What GET /admin/item-hash-key answers. */
export interface ItemHashKey {
  version: number;
  id: string;
  secret: string;
}

/** What clients/local/wasm exports. */
interface Exports {
  memory: WebAssembly.Memory;
  key(): number;
  text(): number;
  hashText(size: number): number;
  hashNumber(number: bigint): number;
}

const SECRET_BYTES = 192, TEXT_BYTES = 255;

/** clients/local, built for WebAssembly. It hashes by one key at a time. */
class Library {
  private readonly exports: Exports;
  private readonly text: Uint8Array;
  private key: ItemKey | null = null;
  private readonly encoder = new TextEncoder();

  constructor() {
    const bytes = readFileSync(new URL("../../seendb_local.wasm", import.meta.url));
    this.exports = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as unknown as Exports;
    this.text = new Uint8Array(this.exports.memory.buffer, this.exports.text(), TEXT_BYTES);
  }

  of(id: Id, key: ItemKey): number {
    if (this.key !== key) this.take(key);
    return typeof id === "bigint" ? this.exports.hashNumber(id) : this.exports.hashText(this.write(id));
  }

  /** Writes the text; its bytes. */
  private write(text: string): number {
    for (let i = 0; i < text.length; ++i) {
      const unit = text.charCodeAt(i);
      if (unit > 127) return this.encoder.encodeInto(text, this.text).written;
      this.text[i] = unit;
    }
    return text.length;
  }

  private take(key: ItemKey): void {
    const at = this.exports.key(), {buffer} = this.exports.memory;
    new DataView(buffer).setUint32(at, key.version, true);
    new Uint8Array(buffer, at + 4, SECRET_BYTES).set(key.secret);
    this.key = key;
  }
}

let library: Library | null = null;

/** Makes fingerprints out of ids. */
export class ItemKey {
  readonly version: number;
  readonly id: bigint;
  readonly secret: Uint8Array;

  constructor(told: ItemHashKey) {
    const sound = told.version === 1 ? told.secret === "" : told.version === 2 && /^[0-9a-f]{384}$/.test(told.secret);
    if (!sound || !/^[0-9a-f]{1,16}$/.test(told.id)) throw refuse("", "no key of item hashes that this client knows");
    this.version = told.version;
    this.id = BigInt("0x" + told.id);
    this.secret = Buffer.from(told.secret, "hex");
  }

  /** The fingerprint of a checked id. */
  of(id: Id): number {
    library ??= new Library();
    return library.of(id, this);
  }
}
