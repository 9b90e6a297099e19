import {promises as dns} from "node:dns";
import type {SrvRecord} from "node:dns";
import {isIPv6} from "node:net";

/** The record is asked for again after so long, and after SOON_MS where no target could be reached, or none is known. */
const AGAIN_MS = 30_000, SOON_MS = 1_000;
const TRY_MS = 1_000;
const TARGETS_MOST = 64;

/** Gives the records of a name, in place of a name server. */
export type Resolver = (name: string) => Promise<readonly SrvRecord[]>;

interface Target {
  url: string;
  /** Of its priority: 0 for the first. */
  rank: number;
  weight: number;
}

/** What a name of DNS stands for: srv+http://_seendb._tcp.example.com for the targets of that SRV record (RFC 2782). */
export class Named {
  why = "no name server has answered yet";
  asked = -Infinity;
  private targets: Target[] = [];
  private asking: Promise<void> | null = null;
  private readonly scheme: string;
  private readonly name: string;
  private readonly resolve: Resolver;
  private readonly servers: dns.Resolver | null = null; // for the targets' addresses; null: the system's, as for any host

  /** `server`: "host:port" of a name server; without: the system's. */
  constructor(readonly url: string, server?: string, resolver?: Resolver) {
    const parts = /^srv\+(https?):\/\/([^:/@?#[\] ]+?)\.?\/?$/.exec(url);
    if (parts === null) throw new TypeError(url + " is no srv+http://name or srv+https://name");
    [, this.scheme, this.name] = parts as unknown as [string, string, string];
    const asking = new dns.Resolver({timeout: TRY_MS, tries: 2});
    if (server !== undefined && resolver === undefined) {
      asking.setServers([server]);
      this.servers = asking;
    }
    this.resolve = resolver ?? ((name) => asking.resolveSrv(name));
  }

  /** The targets in the order in which they are to be tried: by priority, by chance within it. */
  ranked(): {url: string; rank: number}[] {
    return this.targets.map((one) => ({...one, key: -Math.log(1 - Math.random()) / (one.weight || 0.1)}))
      .sort((a, b) => a.rank - b.rank || a.key - b.key);
  }

  /** Asks again where the answer is old. Gives what to wait for; null: nobody asks. */
  refresh(soon: boolean): Promise<void> | null {
    if (this.asking === null && performance.now() - this.asked > (soon ? SOON_MS : AGAIN_MS)) {
      this.asking = this.ask().finally(() => {
        this.asking = null;
        this.asked = performance.now();
      });
    }
    return this.asking;
  }

  /** Where no answer comes the former one goes on. */
  private async ask(): Promise<void> {
    try {
      this.targets = await this.read(await this.resolve(this.name));
      this.why = "the service is not there";
    } catch (error) {
      this.why = error instanceof Error ? error.message : String(error);
    }
  }

  private async read(records: readonly SrvRecord[]): Promise<Target[]> {
    const told = new Map<string, SrvRecord>();
    for (const one of [...records].sort((a, b) => a.priority - b.priority)) {
      const host = one.name.replace(/\.$/, "");
      if (host === "" && records.length === 1) return []; // the owner of the name says so
      const sound = host !== "" && !/[/@?#[\] ]/.test(host) && one.port > 0 && one.port < 65_536;
      if (!sound) throw new Error("a record without a target: " + JSON.stringify(one));
      const place = host + " " + one.port;
      if (!told.has(place) && told.size < TARGETS_MOST) told.set(place, {...one, name: host});
    }
    if (told.size === 0) throw new Error("there is no such record");
    const ranks = [...new Set([...told.values()].map((one) => one.priority))];
    return Promise.all([...told.values()].map(async ({name, port, priority, weight}) => {
      const host = await this.addressOf(name);
      return {url: this.scheme + "://" + (isIPv6(host) ? "[" + host + "]" : host) + ":" + port, rank: ranks.indexOf(priority), weight};
    }));
  }

  /** The name server's word, where one was named; of https the name stays, which the certificate has. */
  private async addressOf(host: string): Promise<string> {
    if (this.servers === null || this.scheme === "https") return host;
    return this.servers.resolve4(host).then((found) => found[0] ?? host, () => host);
  }
}
