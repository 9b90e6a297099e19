package seendb;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;

/** A SeenDB server ("http://host:port", "https://host:port"), or several. All threads may share it. */
public final class Client {
  private static final int CHUNK = 1_000;
  private static final int FETCHED_MOST = 10_000;
  private static final double FIRST_SHARE = 0.5;
  private static final double SHARE_MOST = 0.95;
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

  private record Served(long atNs, String item) {}

  private final Caller caller;
  private final Routing.LastUsers<List<Served>> recent = new Routing.LastUsers<>();
  private final Routing.LastUsers<Double> shares = new Routing.LastUsers<>();

  public Client(String... urls) {
    this(new Options(), urls);
  }

  public Client(Options options, String... urls) {
    caller = new Caller(List.of(urls), options);
  }

  /** Any route: the answer's JSON. A POST is made once. */
  public JsonNode call(String method, String path, Object body) {
    return json(caller.ask(new Caller.Call(null, method, path, Map.of(), body == null ? null : bytes(body), body == null ? null : "application/json", null, null, !REPEATABLE.contains(method))));
  }

  /** Throws RefusedException where every play was refused; of some: Recorded.refusals. */
  public Recorded recordPlays(List<Play> plays, String collection) {
    long now = System.currentTimeMillis();
    List<Play> events = new ArrayList<>();
    Set<String> users = new HashSet<>();
    for (int i = 0; i < plays.size(); ++i) {
      plays.get(i).user().check("/events/" + i + "/user");
      plays.get(i).item().check("/events/" + i + "/item");
      events.add(plays.get(i).at(now));
      users.add(plays.get(i).user().toString());
    }
    Map<String, Object> body = new LinkedHashMap<>(Map.of("events", events));
    if (collection != null) body.put("collection", collection);
    return record("recordPlays", "/plays", body, users.size() == 1 ? plays.get(0).user() : null, users);
  }

  public Recorded recordPlays(List<Play> plays) {
    return recordPlays(plays, null);
  }

  public Recorded recordImpressions(Id user, List<Id> items, String collection) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("user", user.check("/user"));
    body.put("items", Id.check(items, "/items"));
    body.put("at", System.currentTimeMillis());
    if (collection != null) body.put("collection", collection);
    return record("recordImpressions", "/impressions", body, user, Set.of(user.toString()));
  }

  private Recorded record(String name, String path, Object body, Id user, Set<String> users) {
    HttpResponse<byte[]> answer = caller.ask(new Caller.Call(name, "POST", path, Map.of(), bytes(body), "application/json", user, null, false));
    note(answer, users);
    JsonNode told = json(answer);
    List<Recorded.Refusal> refusals = new ArrayList<>();
    for (JsonNode one : told.path("refusals")) {
      JsonNode error = one.path("error");
      refusals.add(new Recorded.Refusal(one.path("index").asInt(), error.path("code").asText(), error.path("message").asText(), error.path("field").asText()));
    }
    Recorded recorded = new Recorded(told.path("accepted").asLong(), told.path("refused").asLong(), refusals, answer.statusCode() == 202);
    if (answer.statusCode() == 422 && !refusals.isEmpty()) throw new RefusedException(refusals.get(0), recorded);
    return recorded;
  }

  private void note(HttpResponse<byte[]> answer, Set<String> users) {
    answer.headers().firstValue("SeenDB-Position").ifPresent(position -> caller.positions.note(users, position));
  }

  /** Which items the user has not seen. Integers alone go in binary. */
  public Filtered filter(Id user, List<Id> items) {
    return filter(new Question(user, items));
  }

  public Filtered filter(Question asked) {
    asked.user().check("/user");
    List<Id> items = Id.check(asked.items(), "/items");
    List<Id> exclude = Id.check(asked.exclude(), "/exclude");
    Map<String, Object> wanted = new LinkedHashMap<>();
    if (asked.collection() != null) wanted.put("collection", asked.collection());
    if (asked.limit() > 0) wanted.put("limit", asked.limit());
    if (asked.record()) wanted.put("record", true);
    if (asked.verify()) wanted.put("verify", true);
    if (asked.orFail()) wanted.put("on_error", "fail");
    Duration within = asked.within() != null ? asked.within() : (asked.timeout() == null ? caller.timeout() : asked.timeout()).multipliedBy(4).dividedBy(5);
    wanted.put("deadline_ms", Math.max(1, within.toMillis()));
    boolean binary = !asked.explain() && !items.isEmpty() && items.stream().allMatch(Id::isNumber) && exclude.stream().allMatch(Id::isNumber);
    if (binary) return filterBinary(asked, items, exclude, wanted);
    wanted.put("user", asked.user());
    wanted.put("items", items);
    if (!exclude.isEmpty()) wanted.put("exclude", exclude);
    if (asked.explain()) wanted.put("explain", true);
    JsonNode told = json(caller.ask(new Caller.Call("filter", "POST", "/filter", Map.of(), bytes(wanted), "application/json", asked.user(), asked.timeout(), false)));
    Map<String, Id> given = new HashMap<>();
    items.forEach(item -> given.putIfAbsent(item.toString(), item));
    List<Id> unseen = new ArrayList<>();
    told.path("unseen").forEach(one -> unseen.add(given.getOrDefault(one.asText(), Id.of(one.asText()))));
    List<String> missing = new ArrayList<>();
    told.path("missing").forEach(one -> missing.add(one.asText()));
    Map<String, String> reasons = new LinkedHashMap<>();
    told.path("reasons").fields().forEachRemaining(one -> reasons.put(one.getKey(), one.getValue().asText()));
    return new Filtered(unseen, told.path("seen").asInt(), told.path("examined").asInt(), told.path("degraded").asBoolean(), missing, told.path("excluded").asInt(),
        told.path("duplicates").asInt(), asked.record() && told.path("recorded").asBoolean(true), reasons);
  }

  private Filtered filterBinary(Question asked, List<Id> items, List<Id> exclude, Map<String, Object> wanted) {
    int count = items.size() + exclude.size();
    ByteBuffer body = ByteBuffer.allocate(8 * count).order(ByteOrder.LITTLE_ENDIAN);
    items.forEach(item -> body.putLong(item.number()));
    exclude.forEach(item -> body.putLong(item.number()));
    Map<String, String> query = new LinkedHashMap<>(Map.of("user", asked.user().toString(), "ids", "u64", "count", String.valueOf(count)));
    wanted.forEach((name, value) -> query.put(name, String.valueOf(value)));
    if (!exclude.isEmpty()) query.put("exclude", String.valueOf(exclude.size()));
    HttpResponse<byte[]> answer = caller.ask(new Caller.Call("filter", "POST", "/filter", query, body.array(), "application/octet-stream", asked.user(), asked.timeout(), false));
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
        number(answer, "SeenDB-Excluded"), number(answer, "SeenDB-Duplicates"), answer.headers().firstValue("SeenDB-Recorded").orElse("").equals("true"), Map.of());
  }

  private static int number(HttpResponse<byte[]> answer, String name) {
    return (int) Caller.number(answer, name, 0);
  }

  /**
   * Up to `need` unseen candidates, best first, recorded as served in the same step, within the client's timeout. Where an answer was
   * lost, what it had recorded is not on the page, and counts as served.
   */
  public List<Id> fillPage(Id user, List<Id> candidates, int need, WhenDegraded degraded) {
    return fillPage(user, candidates, need, degraded, null, null);
  }

  /** `collection` null: the default one; `timeout`: of the whole page, null: the client's. */
  public List<Id> fillPage(Id user, List<Id> candidates, int need, WhenDegraded degraded, String collection, Duration timeout) {
    long deadline = System.nanoTime() + (timeout == null ? caller.timeout() : timeout).toNanos();
    List<Id> page = new ArrayList<>();
    for (int at = 0; at < candidates.size() && page.size() < need; at += CHUNK) {
      List<Id> chunk = candidates.subList(at, Math.min(candidates.size(), at + CHUNK));
      try {
        Duration left = Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
        Question question = new Question(user, chunk).collection(collection).limit(need - page.size()).exclude(List.copyOf(page)).recording().timeout(left);
        Filtered found = filter(degraded == WhenDegraded.FAIL_CLOSED ? question.failing() : question);
        Set<String> known = found.degraded() && degraded == WhenDegraded.LAST_KNOWN ? recentOf(user) : Set.of();
        found.unseen().stream().filter(one -> !known.contains(one.toString())).forEach(page::add);
      } catch (SeenDBException error) {
        if (degraded == WhenDegraded.FAIL_CLOSED || !AWAY.contains(error.code)) throw error;
        Set<String> known = degraded == WhenDegraded.LAST_KNOWN ? recentOf(user) : new HashSet<>();
        page.forEach(one -> known.add(one.toString()));
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
    for (int count = first(user, k);; count = Math.max(count * 2, first(user, k))) {
      count = Math.min(Math.max(count, k), FETCHED_MOST);
      List<Id> found = search.apply(count);
      List<Id> unseen = filter(user, found).unseen();
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
  public HistoryPage history(Id user, String collection, int limit, String cursor) {
    Map<String, String> query = new LinkedHashMap<>(Map.of("limit", String.valueOf(limit)));
    if (collection != null) query.put("collection", collection);
    if (cursor != null) query.put("cursor", cursor);
    HttpResponse<byte[]> answer = caller.ask(new Caller.Call("history", "GET", ofUser(user, "/history"), query, null, null, user, null, false));
    try {
      return Caller.JSON.readValue(answer.body(), HistoryPage.class);
    } catch (IOException error) {
      throw noJson(answer);
    }
  }

  public void deleteHistory(Id user, List<Id> items, String collection) {
    Map<String, Object> body = new LinkedHashMap<>(Map.of("items", Id.check(items, "/items")));
    if (collection != null) body.put("collection", collection);
    write("POST", user, "/history/delete", body);
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

  private JsonNode write(String method, Id user, String rest, Object body) {
    HttpResponse<byte[]> answer = caller.ask(new Caller.Call(null, method, ofUser(user, rest), Map.of(), body == null ? null : bytes(body), body == null ? null : "application/json", user, null, false));
    note(answer, Set.of(user.toString()));
    return json(answer);
  }

  /** Makes a collection, or changes its policy: what is not named stays. */
  public JsonNode putCollection(String name, Map<String, Object> policy) {
    return call("PUT", "/collections/" + Caller.encoded(name), policy);
  }

  public void deleteCollection(String name) {
    call("DELETE", "/collections/" + Caller.encoded(name) + "?confirm=" + Caller.encoded(name), null);
  }

  private static String ofUser(Id user, String rest) {
    return "/users/" + Caller.encoded(user.check("/user").toString()) + rest;
  }

  private static byte[] bytes(Object body) {
    try {
      return Caller.JSON.writeValueAsBytes(body);
    } catch (JsonProcessingException error) {
      throw SeenDBException.refuse("", error.getOriginalMessage());
    }
  }

  private static JsonNode json(HttpResponse<byte[]> answer) {
    try {
      return Caller.JSON.readTree(answer.body());
    } catch (IOException error) {
      throw noJson(answer);
    }
  }

  private static SeenDBException noJson(HttpResponse<byte[]> answer) {
    return new SeenDBException("protocol", "the answer is no JSON", "", answer.statusCode());
  }
}
