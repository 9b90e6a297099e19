package seendb;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.HttpURLConnection;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Answers the plain question of Client.filter in this process, by a dump of the user's filter and by what was noted since.
 * Client.localFilter makes it. All threads may share it.
 */
public final class LocalFilter {
  /** Of a LocalFilter; `new Options()` is good. */
  public static final class Options {
    /** null: the default one. */
    public String collection;
    /** An answer by an older dump has a new one asked for, behind it; null: by refresh() alone. */
    public Duration refresh = Duration.ofSeconds(30);
    /** So long counts what was noted, whatever later dumps say: as long as the server may take to learn it. */
    public Duration keep = Duration.ofMinutes(10);
    /** Of a refresh; null: the client's. */
    public Duration timeout;
    /** The answer of GET /admin/item-hash-key; null: it is asked for, once a client. */
    public JsonNode key;
  }

  private static final int REFRESHING_MOST = 2; // filters of a process that are asked for at once
  private static final long AGAIN_NS = 1_000_000_000; // a refresh that failed is tried again, behind an answer, so much later
  private static final int NOTED_MOST = 100_000; // beyond it the oldest is forgotten

  /** Threads of refreshes; a filter has one at a time waiting. */
  private static final class Behind {
    static final ExecutorService THREADS = Executors.newFixedThreadPool(REFRESHING_MOST, work -> {
      Thread thread = new Thread(work, "seendb-local");
      thread.setDaemon(true);
      return thread;
    });
  }

  private final Caller caller;
  private final Id user;
  private final Options options;
  private final ItemKey key;
  private final Object asking = new Object(); // one refresh at a time
  private final Map<Long, Long> noted = new LinkedHashMap<>(); // until when, the oldest first
  private Dump dump;
  private long taken;
  private long tried;
  private boolean waiting;
  private SeenDBException error;

  /** Without a dump yet. */
  LocalFilter(Caller caller, Id user, Options options, ItemKey key) {
    this.caller = caller;
    this.user = user;
    this.options = options;
    this.key = key;
  }

  // ---- The dump ----

  /** Asks for the dump: for the parts that differ. On failure the former one stays. */
  public void refresh() {
    synchronized (asking) {
      try {
        Dump former = dump();
        Map<String, String> query = options.collection == null ? Map.of() : Map.of("collection", options.collection);
        Caller.Call call = new Caller.Call("localFilter", "GET", "/users/" + Caller.encoded(user.toString()) + "/filter", query, null, null, user, options.timeout, false);
        HttpResponse<byte[]> answer = caller.ask(former == null ? call : call.unless(former.etag));
        take(answer.statusCode() == HttpURLConnection.HTTP_NOT_MODIFIED ? former : Dump.read(answer.body(), former));
      } catch (SeenDBException failure) {
        synchronized (this) {
          error = failure;
        }
        throw failure;
      } finally {
        synchronized (this) {
          tried = System.nanoTime();
        }
      }
    }
  }

  synchronized void take(Dump fresh) {
    if (fresh == null || fresh.keyId != key.id || fresh.hashVersion != key.version) {
      throw SeenDBException.none("incompatible", "the dump's items are hashed by another key than the client has");
    }
    dump = fresh;
    taken = System.nanoTime();
    error = null;
  }

  private synchronized Dump dump() {
    return dump;
  }

  private void refreshBehind() {
    try {
      refresh();
    } catch (SeenDBException failure) {
      // error() tells, and the next answer has it tried again
    } finally {
      synchronized (this) {
        waiting = false;
      }
    }
  }

  /** How long ago the server said that the dump is its state. */
  public synchronized Duration age() {
    return Duration.ofNanos(System.nanoTime() - taken);
  }

  /** The dump lacks something: items may be called unseen that were seen. */
  public synchronized boolean degraded() {
    return dump.degraded;
  }

  /** Why the last refresh failed; null: it did not. */
  public synchronized SeenDBException error() {
    return error;
  }

  // ---- What the caller did ----

  /** These count as seen from now on: they were just served. */
  public void noteServed(List<Id> items) {
    note(items);
  }

  /** These count as seen from now on: they were just played. */
  public void notePlayed(List<Id> items) {
    note(items);
  }

  private synchronized void note(List<Id> items) {
    long now = System.nanoTime();
    for (Id item : Id.check(items, "/items")) {
      long hash = key.of(item);
      noted.remove(hash); // the newest stands last
      noted.put(hash, now + options.keep.toNanos());
    }
    for (Iterator<Long> until = noted.values().iterator(); until.hasNext() && (until.next() - now < 0 || noted.size() > NOTED_MOST);) until.remove();
  }

  private boolean isNoted(long hash, long now) {
    Long until = noted.get(hash);
    return until != null && until - now > 0;
  }

  // ---- The question ----

  /** Which of the items the user has not seen. It asks nothing of the server. */
  public Filtered filter(List<Id> items) {
    return filter(new Question(user, items));
  }

  /** Takes the items, their groups and the limit of a question; one that says more is for Client.filter, and refused. */
  public synchronized Filtered filter(Question asked) {
    check(asked);
    long now = System.nanoTime();
    if (isDue(now)) {
      waiting = true;
      Behind.THREADS.execute(this::refreshBehind);
    }
    List<Id> unseen = new ArrayList<>();
    Set<Id> met = new HashSet<>(2 * asked.items.size());
    int examined = 0;
    int seen = 0;
    int undated = 0;
    for (Id item : asked.items) {
      if (asked.limit > 0 && unseen.size() == asked.limit) break;
      item.check("/items/" + examined);
      ++examined;
      if (!met.add(item)) continue;
      Groups groups = asked.groups == null ? null : asked.groups.apply(item);
      refuseIf(groups != null && !groups.sameAs().isEmpty(), "/items/" + (examined - 1) + "/same_as");
      Dump.Marked marked = groups == null ? NOT_MARKED : dump.marked(groups);
      if (marked.undated()) ++undated;
      long hash = key.of(item);
      if (marked.marked() || dump.seen(hash) || isNoted(hash, now)) ++seen;
      else unseen.add(item);
    }
    return new Filtered(unseen, seen, examined, dump.degraded, dump.missing, 0, examined - met.size(), false, Map.of(), undated, List.of(), List.of(), List.of(), Map.of(), 0);
  }

  private boolean isDue(long now) {
    if (options.refresh == null || waiting) return false;
    long refresh = options.refresh.toNanos();
    return now - taken > refresh && now - tried > Math.min(refresh, AGAIN_NS);
  }

  private static final Dump.Marked NOT_MARKED = new Dump.Marked(false, false);

  private void check(Question asked) {
    refuseIf(!asked.user.equals(user), "/user");
    refuseIf(asked.collection != null && !asked.collection.equals(options.collection), "/collection");
    refuseIf(!asked.collections.isEmpty(), "/collections");
    refuseIf(!asked.exclude.isEmpty(), "/exclude");
    refuseIf(!asked.excludeSets.isEmpty(), "/exclude_sets");
    refuseIf(asked.record, "/record");
    refuseIf(asked.verify, "/verify");
    for (String name : asked.rules.keySet()) refuseIf(true, "/" + name);
  }

  private static void refuseIf(boolean wrong, String field) {
    if (wrong) throw SeenDBException.refuse(field, "the filter in this process can't answer it: ask the client");
  }
}
