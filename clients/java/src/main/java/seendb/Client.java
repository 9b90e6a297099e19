package seendb;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** A SeenDB server ("http://host:port", "https://host:port"), or several. All threads may share it. */
public class Client implements AutoCloseable {
  private static final int CHUNK = 1_000;
  private static final int SET_LINE = 10_000;
  private static final int PAGE_MOST = 1_000;
  private static final int FETCHED_MOST = 10_000;
  private static final double FIRST_SHARE = 0.5;
  private static final double SHARE_MOST = 0.95;
  /** Up to when all of a group is marked, for ever. */
  public static final Instant ALWAYS = Instant.MAX;

  private static final Set<String> REPEATABLE = Set.of("GET", "HEAD", "PUT", "DELETE");
  private static final Set<String> AWAY = Set.of("timeout", "unavailable", "overloaded", "busy", "rate_limited");

  /** What fillPage does where the answer is degraded, or there is none in time. */
  public enum WhenDegraded {
    /** What the answer says is unseen, or, without an answer, the first candidates. */
    FAIL_OPEN,
    /** An exception. */
    FAIL_CLOSED,
    /** FAIL_OPEN without what this client itself has recorded for the user within the last hour. */
    LAST_KNOWN
  }

  private static final TypeReference<Map<String, Object>> FIELDS = new TypeReference<>() {};

  private record Served(long atNs, String item) {}

  private final Caller caller;
  private volatile JsonNode itemKey;
  private final Routing.LastUsers<List<Served>> recent = new Routing.LastUsers<>();
  private final Routing.LastUsers<Double> shares = new Routing.LastUsers<>();

  public Client(String... urls) {
    this(new Options(), urls);
  }

  public Client(Options options, String... urls) {
    this(new Caller(List.of(urls), options));
  }

  Client(Caller caller) {
    this.caller = caller;
  }

  /** Calls fail with "closed" from then on. Idle connections close by themselves once nobody holds the client. */
  @Override
  public void close() {
    caller.close();
  }

  /** The user's filter in this process. It needs a token of the role "filters", and TLS or loopback. */
  public LocalFilter localFilter(Id user) {
    return localFilter(user, new LocalFilter.Options());
  }

  public LocalFilter localFilter(Id user, LocalFilter.Options options) {
    user.check("/user");
    JsonNode key = options.key == null ? itemKey : options.key;
    if (key == null) {
      key = call("GET", "/admin/item-hash-key", null);
      itemKey = key;
    }
    LocalFilter local = new LocalFilter(caller, user, options, new ItemKey(key));
    local.refresh();
    return local;
  }

  /** Any route: the answer's JSON. A POST is made once. */
  public JsonNode call(String method, String path, Object body) {
    return json(caller.ask(asking(null, method, path, body, null, !REPEATABLE.contains(method))));
  }

  /** `body` null: none; `once`: it is not made a second time. */
  private static Caller.Call asking(String name, String method, String path, Object body, Id user, boolean once) {
    return new Caller.Call(name, method, path, Map.of(), body == null ? null : bytes(body), body == null ? null : "application/json", user, null, once);
  }

  /** Throws RefusedException where every play was refused; of some: Recorded.refusals. */
  public Recorded recordPlays(List<Play> plays, String collection) {
    return recordEvents("recordPlays", "/plays", plays, collection);
  }

  public Recorded recordPlays(List<Play> plays) {
    return recordPlays(plays, null);
  }

  /**
   * Records what was on screen, as recordPlays does plays. It makes an item seen if a question asks for it (`not`), or the
   * collection's policy says `exposed_is_seen`.
   */
  public Recorded recordExposures(List<Exposure> exposures, String collection) {
    return recordEvents("recordExposures", "/exposures", exposures, collection);
  }

  public Recorded recordExposures(List<Exposure> exposures) {
    return recordExposures(exposures, null);
  }

  private Recorded recordEvents(String name, String path, List<? extends Event> list, String collection) {
    long now = System.currentTimeMillis();
    List<Event> events = new ArrayList<>();
    Set<String> users = new HashSet<>();
    for (int i = 0; i < list.size(); ++i) {
      events.add(list.get(i).checked(i, now));
      users.add(list.get(i).user().toString());
    }
    return record(name, path, with(Map.of("events", events), "collection", collection), users.size() == 1 ? list.get(0).user() : null, users, "/events/");
  }

  public Recorded recordImpressions(Id user, List<Id> items, String collection) {
    return recordImpressions(new Question(user, items).collection(collection));
  }

  /** Takes the user, the items, their groups, by which they are counted, and the collection from a question. */
  public Recorded recordImpressions(Question served) {
    Map<String, Object> body = Map.of("user", served.user.check("/user"), "items", candidatesOf(served, false), "at", System.currentTimeMillis());
    return record("recordImpressions", "/impressions", with(body, "collection", served.collection), served.user, Set.of(served.user.toString()), "/events/");
  }

  /** `value` null: it is not said. */
  private static Map<String, Object> with(Map<String, Object> body, String name, Object value) {
    Map<String, Object> all = new LinkedHashMap<>(body);
    if (value != null) all.put(name, value);
    return all;
  }

  /** `events`: where the events are in the body, of which refusals name the inside; null: they name the whole place. */
  private Recorded record(String name, String path, Object body, Id user, Set<String> users, String events) {
    HttpResponse<byte[]> answer = caller.ask(asking(name, "POST", path, body, user, false));
    note(answer, users);
    Recorded recorded = recordedOf(answer);
    if (answer.statusCode() != 422 || recorded.refusals().isEmpty()) return recorded;
    Recorded.Refusal first = recorded.refusals().get(0);
    throw new RefusedException(first, (events == null ? "" : events + first.index()) + first.field(), recorded);
  }

  /** What became of events. */
  static Recorded recordedOf(HttpResponse<byte[]> answer) {
    JsonNode told = json(answer, "accepted");
    List<Recorded.Refusal> refusals = new ArrayList<>();
    for (JsonNode one : told.path("refusals")) {
      JsonNode error = one.path("error");
      refusals.add(new Recorded.Refusal(one.path("index").asInt(), error.path("code").asText(), error.path("message").asText(), error.path("field").asText()));
    }
    return new Recorded(told.path("accepted").asLong(), told.path("refused").asLong(), refusals, answer.statusCode() == 202, told.path("stale").asLong());
  }

  /** Plays in batches. `collection` null: the default one. */
  public Bulk bulk(String collection) {
    return bulk(Bulk.Kind.PLAYS, collection, Bulk.BATCH, Bulk.PATIENCE);
  }

  /** `batch`: events; `patience`: how long a batch may take. */
  public Bulk bulk(Bulk.Kind kind, String collection, int batch, Duration patience) {
    return new Bulk(caller, kind, collection, batch, patience);
  }

  private void note(HttpResponse<byte[]> answer, Set<String> users) {
    answer.headers().firstValue("SeenDB-Position").ifPresent(position -> caller.positions.note(users, position));
  }

  /** Which items the user has not seen. Integers alone go in binary. */
  public Filtered filter(Id user, List<Id> items) {
    return filter(new Question(user, items));
  }

  public Filtered filter(Question asked) {
    asked.user.check("/user");
    List<Id> items = asked.items;
    List<?> candidates = candidatesOf(asked, true);
    List<Id> exclude = Id.check(asked.exclude, "/exclude");
    Map<String, Object> wanted = new LinkedHashMap<>();
    if (asked.collection != null) wanted.put("collection", asked.collection);
    if (asked.limit > 0) wanted.put("limit", asked.limit);
    if (asked.record) wanted.put("record", true);
    if (asked.verify) wanted.put("verify", true);
    if (asked.orFail) wanted.put("on_error", "fail");
    Duration timeout = asked.timeout == null ? caller.timeout() : asked.timeout;
    wanted.put("deadline_ms", asked.within != null ? asked.within.toMillis() : Math.max(1, timeout.multipliedBy(4).dividedBy(5).toMillis()));
    boolean plain = asked.rules.isEmpty() && asked.groups == null && !items.isEmpty() && Stream.concat(asked.excludeSets.stream(), asked.collections.stream()).noneMatch(name -> name.contains(","));
    if (plain && Stream.concat(items.stream(), exclude.stream()).allMatch(Id::isNumber)) return filterBinary(asked, items, exclude, wanted);
    wanted.put("user", asked.user);
    wanted.put("items", candidates);
    if (!exclude.isEmpty()) wanted.put("exclude", exclude);
    if (!asked.excludeSets.isEmpty()) wanted.put("exclude_sets", asked.excludeSets);
    if (!asked.collections.isEmpty()) wanted.put("collections", asked.collections);
    wanted.putAll(asked.rules);
    JsonNode told = json(caller.ask(new Caller.Call("filter", "POST", "/filter", Map.of(), bytes(wanted), "application/json", asked.user, asked.timeout, false).hedged(!asked.record)), "unseen");
    Map<String, String> reasons = new LinkedHashMap<>();
    told.path("reasons").fields().forEachRemaining(one -> reasons.put(one.getKey(), one.getValue().asText()));
    Map<String, Map<String, Object>> fields = new LinkedHashMap<>();
    told.path("fields").fields().forEachRemaining(one -> fields.put(one.getKey(), Caller.JSON.convertValue(one.getValue(), FIELDS)));
    return new Filtered(given(told.path("unseen"), items), told.path("seen").asInt(), told.path("examined").asInt(), told.path("degraded").asBoolean(), textsOf(told, "missing"), told.path("excluded").asInt(),
        told.path("duplicates").asInt(), asked.record && told.path("recorded").asBoolean(true), reasons, told.path("undated").asInt(), textsOf(told, "coarse"), textsOf(told, "beyond"),
        given(told.path("repeats"), items), fields, told.path("fields_left_out").asInt());
  }

  /** `dated`: with their times. */
  private static List<?> candidatesOf(Question asked, boolean dated) {
    if (asked.groups == null) return Id.check(asked.items, "/items");
    List<Object> all = new ArrayList<>();
    for (Id id : asked.items) {
      Groups of = asked.groups.apply(id);
      id.check("/items/" + all.size() + (of == null ? "" : "/id"));
      all.add(of == null ? id : with(with(Map.of("id", id, "of", of.of()), "at", dated ? of.at() : null), "same_as", of.sameAs().isEmpty() ? null : of.sameAs()));
    }
    return all;
  }

  /** The ids of an answer as they were given. */
  private static List<Id> given(Iterable<JsonNode> told, List<Id> asked) {
    Map<String, Id> given = new HashMap<>();
    asked.forEach(id -> given.putIfAbsent(id.toString(), id));
    List<Id> all = new ArrayList<>();
    for (JsonNode one : told) {
      if (!given.containsKey(one.asText())) throw SeenDBException.none("protocol", "the answer names what was not asked about: " + one);
      all.add(given.get(one.asText()));
    }
    return all;
  }

  private static List<String> textsOf(JsonNode told, String name) {
    List<String> texts = new ArrayList<>();
    told.path(name).forEach(one -> texts.add(one.asText()));
    return texts;
  }

  private Filtered filterBinary(Question asked, List<Id> items, List<Id> exclude, Map<String, Object> wanted) {
    int count = items.size() + exclude.size();
    ByteBuffer body = ByteBuffer.allocate(8 * count).order(ByteOrder.LITTLE_ENDIAN);
    items.forEach(item -> body.putLong(item.number()));
    exclude.forEach(item -> body.putLong(item.number()));
    Map<String, String> query = new LinkedHashMap<>(Map.of("user", asked.user.toString(), "ids", "u64", "count", String.valueOf(count)));
    wanted.forEach((name, value) -> query.put(name, String.valueOf(value)));
    if (!exclude.isEmpty()) query.put("exclude", String.valueOf(exclude.size()));
    if (!asked.excludeSets.isEmpty()) query.put("exclude_sets", String.join(",", asked.excludeSets));
    if (!asked.collections.isEmpty()) query.put("collections", String.join(",", asked.collections));
    HttpResponse<byte[]> answer = caller.ask(new Caller.Call("filter", "POST", "/filter", query, body.array(), "application/octet-stream", asked.user, asked.timeout, false).hedged(!asked.record));
    byte[] bits = answer.body();
    if (bits.length != (items.size() + 7) / 8 || answer.headers().firstValue("SeenDB-Seen").isEmpty()) {
      throw new SeenDBException("protocol", "the answer is no bitmap of the items", "", answer.statusCode());
    }
    List<Id> unseen = new ArrayList<>();
    for (int i = 0; i < items.size(); ++i) {
      if ((bits[i >> 3] >> (i & 7) & 1) != 0) unseen.add(items.get(i));
    }
    List<String> missing = answer.headers().firstValue("SeenDB-Missing").map(text -> List.of(text.split(", "))).orElse(List.of());
    return new Filtered(unseen, number(answer, "SeenDB-Seen"), number(answer, "SeenDB-Examined"), number(answer, "SeenDB-Degraded") != 0, missing,
        number(answer, "SeenDB-Excluded"), number(answer, "SeenDB-Duplicates"), answer.headers().firstValue("SeenDB-Recorded").orElse("").equals("true"), Map.of(), 0, List.of(), List.of(), List.of(), Map.of(), 0);
  }

  private static int number(HttpResponse<byte[]> answer, String name) {
    return (int) Caller.number(answer, name, 0);
  }

  /**
   * Up to `need` unseen candidates, best first, recorded as served in the same step, within the client's timeout. Where an answer was
   * lost, what it had recorded is not on the page, and counts as served.
   */
  public List<Id> fillPage(Id user, List<Id> candidates, int need, WhenDegraded degraded) {
    return fillPage(user, candidates, need, degraded, null, List.of(), null);
  }

  /** `collection` null: the default one; `exclude`: never on the page; `timeout`: of the whole page, null: the client's. */
  public List<Id> fillPage(Id user, List<Id> candidates, int need, WhenDegraded degraded, String collection, List<Id> exclude, Duration timeout) {
    return fillPage(new Question(user, candidates).collection(collection).exclude(exclude).timeout(timeout), need, degraded);
  }

  /**
   * Takes the candidates, their groups, sets, caps and rules from a question, whose timeout is that of the whole page. Candidates that
   * are served without an answer were judged by none of them: FAIL_CLOSED is for sets that must hold.
   */
  public List<Id> fillPage(Question asked, int need, WhenDegraded degraded) {
    long deadline = System.nanoTime() + (asked.timeout == null ? caller.timeout() : asked.timeout).toNanos();
    Id user = asked.user;
    List<Id> candidates = asked.items;
    List<Id> exclude = asked.exclude;
    List<Id> page = new ArrayList<>();
    for (int at = 0; at < candidates.size() && page.size() < need; at += CHUNK) {
      List<Id> chunk = candidates.subList(at, Math.min(candidates.size(), at + CHUNK));
      try {
        Duration left = Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
        List<Id> not = Stream.concat(exclude.stream(), page.stream()).toList();
        Question question = asked.items(chunk).limit(need - page.size()).exclude(not).rule("when_short", null).recording().timeout(left);
        Filtered found = filter(degraded == WhenDegraded.FAIL_CLOSED ? question.failing() : question);
        if (found.degraded() && degraded == WhenDegraded.FAIL_CLOSED) throw SeenDBException.none("unavailable", "the answer is degraded: " + found.missing());
        Set<String> known = found.degraded() && degraded == WhenDegraded.LAST_KNOWN ? recentOf(user) : Set.of();
        found.unseen().stream().filter(one -> !known.contains(one.toString())).limit(need - page.size()).toList().forEach(page::add);
      } catch (SeenDBException error) {
        if (degraded == WhenDegraded.FAIL_CLOSED || !AWAY.contains(error.code)) throw error;
        Set<String> known = degraded == WhenDegraded.LAST_KNOWN ? recentOf(user) : new HashSet<>();
        Stream.concat(exclude.stream(), page.stream()).forEach(one -> known.add(one.toString()));
        for (Id one : candidates.subList(at, candidates.size())) {
          if (page.size() == need) break;
          if (known.add(one.toString())) page.add(one);
        }
        break;
      }
    }
    long now = System.nanoTime();
    recent.change(user.toString(), before -> {
      List<Served> kept = new ArrayList<>();
      if (before != null) before.stream().filter(one -> now - one.atNs < Duration.ofHours(1).toNanos()).forEach(kept::add);
      page.forEach(one -> kept.add(new Served(now, one.toString())));
      return kept;
    });
    return page;
  }

  private Set<String> recentOf(Id user) {
    Set<String> items = new HashSet<>();
    List<Served> known = recent.get(user.toString());
    if (known != null) known.stream().filter(one -> System.nanoTime() - one.atNs < Duration.ofHours(1).toNanos()).forEach(one -> items.add(one.item));
    return items;
  }

  /**
   * Up to `k` unseen ids of a search that knows no users: search.apply(count) gives the best `count` ids, in order. It is asked for
   * k / (1 - s), where s is the share of its candidates that this user has seen, and for more until enough are unseen.
   */
  public List<Id> searchUnseen(IntFunction<List<Id>> search, Id user, int k) {
    return searchUnseen(search, new Question(user, List.of()), k);
  }

  /** Takes the groups of what is found, sets, caps, rules and the collection from a question. */
  public List<Id> searchUnseen(IntFunction<List<Id>> search, Question asked, int k) {
    Id user = asked.user;
    for (int count = first(user, k);; count = Math.max(count * 2, first(user, k))) {
      count = Math.min(Math.max(count, k), FETCHED_MOST);
      List<Id> found = search.apply(count);
      List<Id> unseen = filter(asked.items(found)).unseen();
      if (!found.isEmpty()) {
        double seen = 1 - (double) unseen.size() / found.size();
        shares.change(user.toString(), before -> Math.min(SHARE_MOST, before == null ? seen : before + (seen - before) / 2));
      }
      if (unseen.size() >= k || found.size() < count || count >= FETCHED_MOST) return unseen.subList(0, Math.min(k, unseen.size()));
    }
  }

  private int first(Id user, int k) {
    Double share = shares.get(user.toString());
    return (int) Math.ceil(k / (1 - (share == null ? FIRST_SHARE : share)));
  }

  /** A page of what the user watched, newest first. `collection` null: all; `cursor` null: the newest. */
  public HistoryPage historyPage(Id user, String collection, int limit, String cursor) {
    return Caller.JSON.convertValue(read("historyPage", ofUser(user, "/history"), user, "entries", query("limit", limit, "cursor", cursor, "collection", collection)), HistoryPage.class);
  }

  /** Names and values; those of null are left out. */
  private static Map<String, String> query(Object... pairs) {
    Map<String, String> query = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) if (pairs[i + 1] != null) query.put(pairs[i].toString(), pairs[i + 1].toString());
    return query;
  }

  private JsonNode read(String name, String path, Id user, String needs, Map<String, String> query) {
    return json(caller.ask(new Caller.Call(name, "GET", path, query, null, null, user, null, false).hedged(true)), needs);
  }

  /**
   * Makes these ids (a million at most) the set of all users, in place of those that it had. It is on the server's disk once this
   * returns. `name`: 1-64 bytes. "too_large": all sets together have no room.
   */
  public ItemSet putSet(String name, List<Id> items) {
    Id.check(items, "/items");
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (int at = 0; at == 0 || at < items.size(); at += SET_LINE) {
      lines.writeBytes(bytes(Map.of("items", items.subList(at, Math.min(items.size(), at + SET_LINE)))));
      lines.write('\n');
    }
    JsonNode told = json(caller.ask(new Caller.Call("putSet", "PUT", ofSet(name), Map.of(), lines.toByteArray(), "application/x-ndjson", null, null, false)), "count");
    return Caller.JSON.convertValue(told, ItemSet.class);
  }

  /** A set and a page of its ids: at most `limit` (10,000) of them. `cursor` null: from the first. */
  public ItemSet getSet(String name, int limit, String cursor) {
    return Caller.JSON.convertValue(read("getSet", ofSet(name), null, "items", query("limit", limit, "cursor", cursor)), ItemSet.class);
  }

  /** Deletes a set: a filter that names it fails with "not_found" from then on, and so does this. */
  public void deleteSet(String name) {
    call("DELETE", ofSet(name), null);
  }

  /** All sets by name, without their ids. */
  public List<ItemSet> sets() {
    return Caller.JSON.convertValue(read("sets", "/sets", null, "sets", Map.of()).path("sets"), new TypeReference<>() {});
  }

  /**
   * How often the user met what belongs to groups of a kind: "author" asks for it and all "author:...", as events named them.
   * `collection` null: the default one.
   */
  public CountsPage counts(Id user, String of, String collection) {
    JsonNode told = read("counts", ofUser(user, "/counts"), user, "counts", query("of", of, "collection", collection));
    return Caller.JSON.convertValue(told, CountsPage.class);
  }

  /**
   * Promises to serve the items of a question as far as its caps leave room for their groups, checked and counted in one step. A
   * reservation counts as served until it expires, or an impression of the item takes its place. It has the time of the first try: a
   * second one counts once.
   */
  public Reserved reserve(Question asked, Duration expires) {
    Map<String, Object> body = Map.of("user", asked.user.check("/user"), "items", candidatesOf(asked, true), "caps", asked.rules.getOrDefault("caps", List.of()),
        "expires_ms", expires.toMillis(), "at", System.currentTimeMillis());
    HttpResponse<byte[]> answer = caller.ask(asking("reserve", "POST", "/reserve", with(body, "collection", asked.collection), asked.user, false));
    note(answer, Set.of(asked.user.toString()));
    JsonNode told = json(answer, "reserved", "refused");
    return new Reserved(given(told.path("reserved"), asked.items), given(told.path("refused"), asked.items));
  }

  /**
   * Marks all of a group as seen that was published up to `until`, or ALWAYS. The mark that reaches furthest counts, in all
   * collections, for candidates that name the group (Question.groups). It is said at the present, set before the first try: one that
   * is said no later than an unmark does not count.
   */
  public void mark(Id user, String group, Instant until) {
    Map<String, Object> body = Map.of("group", group, "until", until.equals(ALWAYS) ? "always" : until.toEpochMilli(), "at", System.currentTimeMillis());
    record("mark", ofUser(user, "/marks"), body, user, Set.of(user.toString()), null);
  }

  /** Deletes the mark of a group; whether one counted. A repeat of it says false. */
  public boolean unmark(Id user, String group) {
    return write("DELETE", user, "/marks/" + Caller.encoded(group), null).path("deleted").asBoolean();
  }

  /** A page of what the user marked, by group: at most `limit` (1,000) of them. `cursor` null: from the first. */
  public MarksPage marks(Id user, int limit, String cursor) {
    JsonNode told = read("marks", ofUser(user, "/marks"), user, "marks", query("limit", limit, "cursor", cursor));
    List<MarksPage.Mark> marks = new ArrayList<>();
    for (JsonNode one : told.path("marks")) {
      Instant until = one.path("until").isNumber() ? Instant.ofEpochMilli(one.path("until").asLong()) : ALWAYS;
      marks.add(new MarksPage.Mark(one.path("group").asText(), until, Instant.ofEpochMilli(one.path("at").asLong())));
    }
    return new MarksPage(marks, told.path("cursor").asText(null), told.path("degraded").asBoolean(), textsOf(told, "missing"));
  }

  /** Makes these the fields that items may have. One whose name is missing is removed with its values. */
  public void putItemSchema(List<Item.Field> fields) {
    call("PUT", "/items/schema", Map.of("fields", fields));
  }

  /** A malformed update is an exception, and nothing is taken. Throws RefusedException where every one was refused. */
  public Recorded putItems(List<Item.Update> updates) {
    for (int i = 0; i < updates.size(); ++i) updates.get(i).id().check("/items/" + i + "/id");
    return record("putItems", "/items", Map.of("items", updates), null, Set.of(), null);
  }

  /** Reads items (1,000 at most), in their order, with these fields or all. Unknown ones are left out. */
  public List<Item> getItems(List<Id> ids, String... fields) {
    Map<String, Object> body = Map.of("ids", Id.check(ids, "/ids"), "fields", fields);
    JsonNode told = json(caller.ask(asking("getItems", "POST", "/items/get", body, null, false).hedged(true)), "items").path("items");
    List<JsonNode> named = new ArrayList<>();
    told.forEach(one -> named.add(one.path("id")));
    List<Id> own = given(named, ids);
    List<Item> items = new ArrayList<>();
    for (JsonNode one : told) items.add(new Item(own.get(items.size()), one.path("version").asLong(), Caller.JSON.convertValue(one.path("fields"), FIELDS)));
    return items;
  }

  /** All of it, newest first, page by page. */
  public List<HistoryPage.Entry> history(Id user, String collection) {
    List<HistoryPage.Entry> all = new ArrayList<>();
    String cursor = null;
    do {
      HistoryPage page = historyPage(user, collection, PAGE_MOST, cursor);
      all.addAll(page.entries());
      cursor = page.cursor();
    } while (cursor != null);
    return all;
  }

  /** Where the player is in the items, of those that are in the history, by the item's text. `collection` null: the default one. */
  public Map<String, HistoryPage.Entry> lookUpHistory(Id user, List<Id> items, String collection) {
    JsonNode told = write("POST", user, "/history/lookup", itemsOf(items, collection));
    Map<String, HistoryPage.Entry> found = new LinkedHashMap<>();
    for (JsonNode one : told.path("entries")) {
      if (!one.isNull()) found.put(one.path("item").asText(), Caller.JSON.convertValue(one, HistoryPage.Entry.class));
    }
    return found;
  }

  private static Map<String, Object> itemsOf(List<Id> items, String collection) {
    return with(Map.of("items", Id.check(items, "/items")), "collection", collection);
  }

  public void deleteHistory(Id user, List<Id> items, String collection) {
    deleteHistory(user, items, collection, null);
  }

  /** `sameAs`: groups that may be recommended again with the items, where the policy says so of deleted ones; null: none. */
  public void deleteHistory(Id user, List<Id> items, String collection, List<String> sameAs) {
    write("POST", user, "/history/delete", with(itemsOf(items, collection), "same_as", sameAs));
  }

  /** `collection` null: all. */
  public void clearHistory(Id user, String collection) {
    write("POST", user, "/history/clear", collection == null ? Map.of() : Map.of("collections", List.of(collection)));
  }

  /** Pauses the history (false), or goes on with it. */
  public void setRecording(Id user, boolean recording) {
    write("PUT", user, "/recording", Map.of("paused", !recording));
  }

  /** Forgets a user, for good; whether anything was held. */
  public boolean erase(Id user) {
    return write("DELETE", user, "", null).path("known").asBoolean();
  }

  /** What is held about a user, as the server says it. */
  public JsonNode inspect(Id user) {
    return write("GET", user, "", null);
  }

  /** Everything held about a user: the last is of type "end". */
  public List<JsonNode> export(Id user) {
    HttpResponse<byte[]> answer = caller.ask(new Caller.Call("export", "GET", ofUser(user, "/export"), Map.of(), null, null, user, Duration.ofMinutes(1), false));
    try (MappingIterator<JsonNode> lines = Caller.JSON.readerFor(JsonNode.class).readValues(answer.body())) {
      return lines.readAll();
    } catch (IOException error) {
      throw new SeenDBException("protocol", "the answer is not the JSON that was asked for", "", answer.statusCode());
    }
  }

  private JsonNode write(String method, Id user, String rest, Object body) {
    HttpResponse<byte[]> answer = caller.ask(asking(null, method, ofUser(user, rest), body, user, false).hedged(method.equals("GET")));
    note(answer, Set.of(user.toString()));
    return json(answer);
  }

  /** Names and policies. */
  public List<JsonNode> collections() {
    List<JsonNode> all = new ArrayList<>();
    call("GET", "/collections", null).path("collections").forEach(all::add);
    return all;
  }

  /** Makes a collection, or changes its policy: what is not named stays. */
  public JsonNode putCollection(String name, Map<String, Object> policy) {
    return call("PUT", "/collections/" + Caller.encoded(name), policy);
  }

  public void deleteCollection(String name) {
    call("DELETE", "/collections/" + Caller.encoded(name) + "?confirm=" + Caller.encoded(name), null);
  }

  private static String ofSet(String name) {
    return "/sets/" + Caller.encoded(name);
  }

  private static String ofUser(Id user, String rest) {
    return "/users/" + Caller.encoded(user.check("/user").toString()) + rest;
  }

  static byte[] bytes(Object body) {
    try {
      return Caller.JSON.writeValueAsBytes(body);
    } catch (JsonProcessingException error) {
      throw SeenDBException.refuse("", error.getOriginalMessage());
    }
  }

  /** The answer's JSON, with the members that it needs. */
  private static JsonNode json(HttpResponse<byte[]> answer, String... needs) {
    try {
      JsonNode told = Caller.JSON.readTree(answer.body());
      if (Stream.of(needs).allMatch(told::has)) return told;
    } catch (IOException error) {
      // no JSON
    }
    throw new SeenDBException("protocol", "the answer is not the JSON that was asked for", "", answer.statusCode());
  }
}
