package seendb;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.net.ssl.SSLSession;

/**
 * A client for the tests of whoever calls SeenDB: no server, all in memory. It knows plays, impressions, exposures, marks, filters,
 * erasures, collections, items and sets; it forgets nothing, and no time is too old for it. Of NotEntry it goes by facts and surfaces.
 * What it does not know, histories, counts, caps, sameAs, several collections and rules on items among it, it refuses.
 */
public final class DoubleClient extends Client {
  private final Memory memory;

  public DoubleClient() {
    this(new Memory());
  }

  private DoubleClient(Memory memory) {
    super(memory);
    this.memory = memory;
  }

  /** The next calls fail with these codes. */
  public void fail(String... codes) {
    memory.failures.addAll(Arrays.asList(codes));
  }

  /** Answers are degraded, or not any more. */
  public void degrade(boolean degraded) {
    memory.degraded = degraded;
  }

  /** What it was asked: names, as onCall is told them. */
  public List<String> calls() {
    return List.copyOf(memory.calls);
  }

  /** An answer of no server. */
  private record Said(byte[] body, HttpHeaders headers) implements HttpResponse<byte[]> {
    static Said of(Object body) {
      return new Said(bytes(body), HttpHeaders.of(Map.of(), (name, value) -> true));
    }

    @Override
    public int statusCode() {
      return 200;
    }

    @Override
    public HttpRequest request() {
      return null;
    }

    @Override
    public Optional<HttpResponse<byte[]>> previousResponse() {
      return Optional.empty();
    }

    @Override
    public Optional<SSLSession> sslSession() {
      return Optional.empty();
    }

    @Override
    public URI uri() {
      return null;
    }

    @Override
    public HttpClient.Version version() {
      return HttpClient.Version.HTTP_1_1;
    }
  }

  /** The newest value of a field; null: it was taken away. */
  private record Value(long version, JsonNode value) {}

  /** Answers in place of a server. */
  private static final class Memory extends Caller {
    private static final Map<String, String> FACTS =
        Map.of("plays", "play", "impressions", "impression", "exposures", "exposed", "played", "play", "served", "impression", "exposed", "exposed");

    private final List<String> calls = new ArrayList<>();
    private final Queue<String> failures = new ArrayDeque<>();
    private final Set<String> collections = new HashSet<>(Set.of("default"));
    private final Set<String> exposed = new HashSet<>(); // collections whose policy says exposed_is_seen
    private final Map<List<String>, Map<String, Set<String>>> seen = new HashMap<>(); // by collection and user: items, facts: "exposed", "exposed home"
    private final Map<String, TreeMap<String, JsonNode>> marks = new HashMap<>(); // by user and group
    private final Map<String, Map<String, Value>> items = new HashMap<>(); // by item and field; "": what it had before that version is gone
    private final TreeMap<String, TreeSet<String>> sets = new TreeMap<>(); // by name: texts of ids
    private boolean degraded;

    Memory() {
      super(List.of("http://double"), new Options());
    }

    @Override
    synchronized HttpResponse<byte[]> ask(Call call) {
      calls.add(call.name() == null ? call.method() + " " + call.path() : call.name());
      if (!failures.isEmpty()) throw SeenDBException.none(failures.remove(), "the test wants it so");
      String[] path = call.path().replaceAll("\\?.*", "").substring(1).split("/");
      String name = path.length > 1 ? decoded(path[1]) : "";
      switch (path[0]) {
        case "collections":
          if (call.method().equals("PUT")) {
            collections.add(name);
            if (told(call).path("exposed_is_seen").asBoolean()) exposed.add(name);
          }
          else if (!collections.remove(name)) throw new SeenDBException("not_found", "no collection " + name, "/name", 404);
          return Said.of(Map.of("name", name));
        case "items":
          return item(call);
        case "sets":
          return path.length > 1 ? set(call, name) : Said.of(Map.of("sets", sets.keySet().stream().map(this::info).toList()));
        case "users":
          if (path.length > 2 && path[2].equals("marks")) return mark(call, name, path.length > 3 ? decoded(path[3]) : "");
          if (path.length > 2) throw new SeenDBException("not_found", "the double has no " + call.path(), "", 404);
          boolean known = call.method().equals("DELETE") && seen.keySet().removeIf(key -> key.get(1).equals(name)) | marks.remove(name) != null;
          return Said.of(Map.of("user", name, "erased", true, "known", known));
        case "reserve":
          throw new SeenDBException("not_found", "the double has no " + call.path(), "", 404);
        default:
          ObjectNode told = told(call);
          String collection = told.path("collection").asText("default");
          if (!collections.contains(collection)) throw new SeenDBException("not_found", "no collection " + collection, "/collection", 404);
          if (path[0].equals("filter")) return filter(told, of(collection, told.path("user").asText()), "u64".equals(call.query().get("ids")));
          return record(FACTS.get(path[0]), told, collection);
      }
    }

    private static String decoded(String part) {
      return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private Map<String, Set<String>> of(String collection, String user) {
      return seen.computeIfAbsent(List.of(collection, user), key -> new HashMap<>());
    }

    private static Set<String> facts(Map<String, Set<String>> kept, String item) {
      return kept.computeIfAbsent(item, key -> new HashSet<>());
    }

    private static ObjectNode told(Call call) {
      ObjectNode told = JsonNodeFactory.instance.objectNode();
      call.query().forEach(told::put);
      try {
        if (call.contentType().equals("application/x-ndjson")) {
          try (var lines = JSON.readerFor(JsonNode.class).<JsonNode>readValues(call.body())) {
            told.putArray("events").addAll(lines.readAll());
          }
        } else if (call.path().equals("/plays") && call.query().containsKey("ids")) {
          rows(ByteBuffer.wrap(call.body()).order(ByteOrder.LITTLE_ENDIAN), told);
        } else if ("u64".equals(call.query().get("ids"))) {
          ByteBuffer numbers = ByteBuffer.wrap(call.body()).order(ByteOrder.LITTLE_ENDIAN);
          int count = numbers.remaining() / 8 - told.path("exclude").asInt();
          told.putArray("items");
          told.putArray("exclude");
          if (told.has("exclude_sets")) List.of(told.remove("exclude_sets").asText().split(",")).forEach(told.withArray("/exclude_sets")::add);
          for (int i = 0; numbers.hasRemaining(); ++i) told.withArray(i < count ? "/items" : "/exclude").add(Long.toUnsignedString(numbers.getLong()));
        } else {
          told.setAll((ObjectNode) JSON.readTree(call.body()));
        }
      } catch (IOException error) {
        throw SeenDBException.refuse("", error.getMessage());
      }
      for (String list : List.of("events", "items")) {
        for (int i = 0; i < told.path(list).size(); ++i) {
          String field = "/" + list + "/" + i + "/same_as";
          if (!told.at(field).isMissingNode()) throw new SeenDBException("invalid_argument", "the double knows no such groups", field, 400);
        }
      }
      return told;
    }

    /** Reads plays of a Bulk, in binary. */
    private static void rows(ByteBuffer body, ObjectNode told) {
      told.putArray("events");
      while (body.hasRemaining()) {
        ObjectNode event = told.withArray("/events").addObject();
        for (String member : List.of("user", "item")) {
          if (told.path("ids").asText().equals("u64")) {
            event.put(member, Long.toUnsignedString(body.getLong()));
          } else {
            byte[] text = new byte[body.getInt()];
            body.get(text);
            event.put(member, new String(text, StandardCharsets.UTF_8));
          }
        }
        body.getLong();
      }
    }

    private HttpResponse<byte[]> record(String fact, ObjectNode told, String collection) {
      int count = 0;
      for (JsonNode one : told.path(told.has("events") ? "events" : "items")) {
        Map<String, Set<String>> kept = of(collection, (told.has("events") ? one : told).path("user").asText());
        String item = (told.has("events") ? one.path("item") : one.has("id") ? one.path("id") : one).asText();
        facts(kept, item).addAll(List.of(fact, fact + " " + one.path("surface").asText()));
        ++count;
      }
      return Said.of(Map.of("accepted", count, "refused", 0, "refusals", List.of()));
    }

    private HttpResponse<byte[]> mark(Call call, String user, String group) {
      TreeMap<String, JsonNode> own = marks.computeIfAbsent(user, key -> new TreeMap<>());
      if (call.method().equals("DELETE")) return Said.of(Map.of("deleted", own.remove(group) != null));
      if (call.method().equals("POST")) {
        ObjectNode told = told(call);
        own.merge(told.path("group").asText(), told, (before, now) -> reach(before) < reach(now) ? now : before);
        return Said.of(Map.of("accepted", 1, "refused", 0, "refusals", List.of()));
      }
      return Said.of(page("marks", own.values(), call));
    }

    private static Map<String, Object> page(String name, Collection<?> all, Call call) {
      int begin = Integer.parseInt(call.query().getOrDefault("cursor", "0"));
      int end = Math.min(all.size(), begin + Integer.parseInt(call.query().get("limit")));
      Map<String, Object> page = new LinkedHashMap<>(Map.of(name, List.copyOf(all).subList(begin, end)));
      if (end < all.size()) page.put("cursor", String.valueOf(end));
      return page;
    }

    private HttpResponse<byte[]> set(Call call, String name) {
      if (call.method().equals("PUT")) {
        TreeSet<String> members = new TreeSet<>();
        told(call).path("events").forEach(line -> line.path("items").forEach(one -> members.add(one.asText())));
        sets.put(name, members);
      }
      Map<String, Object> told = new LinkedHashMap<>(info(name));
      if (call.method().equals("GET")) told.putAll(page("items", members(name, ""), call));
      if (call.method().equals("DELETE")) sets.remove(name);
      return Said.of(told);
    }

    private Map<String, Object> info(String name) {
      return Map.of("name", name, "count", members(name, "").size(), "bytes", 0, "at", 0);
    }

    private Set<String> members(String name, String field) {
      if (!sets.containsKey(name)) throw new SeenDBException("not_found", "no set " + name, field, 404);
      return sets.get(name);
    }

    private static long reach(JsonNode mark) {
      return mark.path("until").asLong(Long.MAX_VALUE); // "always"
    }

    private HttpResponse<byte[]> item(Call call) {
      ObjectNode told = told(call);
      if (call.method().equals("PUT")) return Said.of(told);
      if (call.path().endsWith("/get")) {
        Set<String> asked = new HashSet<>();
        told.path("fields").forEach(one -> asked.add(one.asText()));
        List<Object> found = new ArrayList<>();
        for (JsonNode id : told.path("ids")) {
          Map<String, Value> kept = items.getOrDefault(id.asText(), Map.of());
          Map<String, JsonNode> fields = new LinkedHashMap<>();
          kept.forEach((field, one) -> {
            if (one.value() != null) fields.put(field, one.value());
          });
          if (fields.isEmpty()) continue;
          if (!asked.isEmpty()) fields.keySet().retainAll(asked);
          found.add(Map.of("id", id, "version", kept.values().stream().mapToLong(Value::version).max().orElse(0), "fields", fields));
        }
        return Said.of(Map.of("items", found));
      }
      int stale = 0;
      for (JsonNode one : told.path("items")) {
        long version = one.path("version").asLong();
        Map<String, Value> kept = items.computeIfAbsent(one.path("id").asText(), key -> new HashMap<>(Map.of("", new Value(0, null))));
        Map<String, JsonNode> said = new LinkedHashMap<>();
        one.path("unset").forEach(field -> said.put(field.asText(), null));
        one.path("set").fields().forEachRemaining(field -> said.put(field.getKey(), field.getValue()));
        for (Map.Entry<String, JsonNode> field : said.entrySet()) {
          if (kept.getOrDefault(field.getKey(), kept.get("")).version() > version) ++stale;
          else kept.put(field.getKey(), new Value(version, field.getValue()));
        }
        if (one.path("replace").asBoolean() || one.path("delete").asBoolean()) kept.replaceAll((field, before) -> before.version() < version ? new Value(version, null) : before);
      }
      return Said.of(Map.of("accepted", told.path("items").size(), "stale", stale, "refused", 0, "refusals", List.of()));
    }

    /** The facts that make an item seen. */
    private List<String> asked(ObjectNode told) {
      List<String> facts = new ArrayList<>();
      told.path("not").forEach(one -> facts.add(FACTS.get(one.path("fact").asText()) + (one.has("surface") ? " " + one.path("surface").asText() : "")));
      if (!facts.isEmpty()) return facts;
      told.path("facts").forEach(one -> facts.add(FACTS.get(one.asText())));
      if (facts.isEmpty()) facts.addAll(List.of("play", "impression"));
      if (exposed.contains(told.path("collection").asText("default"))) facts.add("exposed");
      return facts;
    }

    private HttpResponse<byte[]> filter(ObjectNode told, Map<String, Set<String>> kept, boolean packed) {
      for (String rule : List.of("collections", "caps", "where", "at_most", "unknown", "fields", "when_short")) {
        if (told.has(rule)) throw SeenDBException.refuse("/" + rule, "the double knows no such filter");
      }
      Map<String, Set<String>> without = new LinkedHashMap<>();
      for (JsonNode name : told.path("exclude_sets")) without.put(name.asText(), members(name.asText(), "/exclude_sets/" + without.size()));
      Set<String> excluded = new HashSet<>();
      told.path("exclude").forEach(one -> excluded.add(one.asText()));
      List<String> asked = asked(told);
      Map<String, JsonNode> marked = marks.getOrDefault(told.path("user").asText(), new TreeMap<>());
      Map<String, Integer> counts = new LinkedHashMap<>(Map.of("seen", 0, "examined", 0, "excluded", 0, "duplicates", 0, "undated", 0));
      List<String> unseen = new ArrayList<>();
      Map<String, String> reasons = new LinkedHashMap<>();
      Set<String> met = new HashSet<>();
      byte[] bits = new byte[(told.path("items").size() + 7) / 8];
      for (int i = 0; i < told.path("items").size() && unseen.size() < told.path("limit").asInt(Integer.MAX_VALUE); ++i) {
        JsonNode one = told.path("items").path(i);
        String item = one.path("id").asText(one.asText());
        String why = asked.stream().filter(kept.getOrDefault(item, Set.of())::contains).findFirst().map(fact -> fact.split(" ")[0]).orElse(null);
        boolean undated = false;
        boolean always = false;
        for (JsonNode group : one.path("of")) {
          JsonNode mark = marked.get(group.asText());
          if (mark == null) continue;
          undated |= !one.has("at");
          always |= reach(mark) == Long.MAX_VALUE;
          if (why == null && reach(mark) >= one.path("at").asLong(Long.MAX_VALUE)) why = "mark:" + group.asText();
        }
        if (undated && !always) counts.merge("undated", 1, Integer::sum);
        counts.merge("examined", 1, Integer::sum);
        if (!met.add(item)) {
          counts.merge("duplicates", 1, Integer::sum);
        } else if (excluded.contains(item)) {
          counts.merge("excluded", 1, Integer::sum);
        } else if (without.values().stream().anyMatch(set -> set.contains(item))) {
          counts.merge("excluded", 1, Integer::sum);
          without.keySet().stream().filter(name -> without.get(name).contains(item)).findFirst().ifPresent(name -> reasons.put(item, "set:" + name));
        } else if (why != null) {
          counts.merge("seen", 1, Integer::sum);
          reasons.put(item, why);
        } else {
          unseen.add(item);
          bits[i >> 3] |= (byte) (1 << (i & 7));
        }
      }
      if (told.path("record").asBoolean()) unseen.forEach(one -> facts(kept, one).add("impression"));
      Map<String, Object> answer = new LinkedHashMap<>(counts);
      answer.put("degraded", degraded);
      answer.put("missing", degraded ? List.of("double") : List.of());
      answer.put("unseen", unseen);
      if (told.path("explain").asBoolean()) answer.put("reasons", reasons);
      if (!packed) return Said.of(answer);
      Map<String, List<String>> headers = counts.entrySet().stream().collect(Collectors.toMap(one -> "SeenDB-" + one.getKey(), one -> List.of(one.getValue().toString())));
      headers.put("SeenDB-Degraded", List.of(degraded ? "1" : "0"));
      headers.put("SeenDB-Recorded", List.of(told.path("record").asText("false")));
      if (degraded) headers.put("SeenDB-Missing", List.of("double"));
      return new Said(bits, HttpHeaders.of(headers, (name, value) -> true));
    }
  }
}
