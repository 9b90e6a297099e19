package seendb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/** The scenarios of clients/conformance: those of a server against the one that SEENDB_URL names, the others against liar.py. */
class ConformanceTest {
  private static final Path FOLDER = Path.of(System.getenv().getOrDefault("SEENDB_CONFORMANCE", "../conformance"));
  private static final Map<String, Object> DONE = Map.of("done", true);

  private static List<JsonNode> scenarios(boolean lying, String... only) throws IOException {
    List<JsonNode> rows = new ArrayList<>();
    try (Stream<Path> files = Files.list(FOLDER)) {
      for (Path file : files.filter(one -> one.toString().endsWith(".json") && !one.endsWith("answers.json"))
          .filter(one -> only.length == 0 || List.of(only).contains(one.getFileName().toString())).sorted().toList()) {
        for (JsonNode row : Caller.JSON.readTree(file.toFile())) if (row.has("servers") == lying) rows.add(row);
      }
    }
    return rows;
  }

  private static Stream<JsonNode> each(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false);
  }

  private static Id given(JsonNode one) {
    if (one.has("id")) return given(one.path("id"));
    return one.isTextual() ? Id.of(one.asText()) : Id.of(Long.parseUnsignedLong(one.path("u64").asText()));
  }

  private static List<Id> givenAll(JsonNode list) {
    return each(list).map(ConformanceTest::given).toList();
  }

  private static List<Object> told(List<Id> ids) {
    return ids.stream().map(one -> one.isNumber() ? Map.of("u64", one.toString()) : (Object) one.toString()).toList();
  }

  private static String textOf(JsonNode args, String name) {
    return args.has(name) ? args.path(name).asText() : null;
  }

  private static Integer numberOf(JsonNode args, String name) {
    return args.has(name) ? args.path(name).asInt() : null;
  }

  private static Map<String, Object> recorded(Recorded one) {
    return Map.of("accepted", one.accepted(), "refused", one.refused(), "pending", one.pending(),
        "refusals", one.refusals().stream().map(part -> List.of(part.index(), part.code(), part.field())).toList());
  }

  private static List<Object> entries(long now, Collection<HistoryPage.Entry> list) {
    List<Object> all = new ArrayList<>();
    for (HistoryPage.Entry one : list) {
      Map<String, Object> entry = new LinkedHashMap<>(Map.of("collection", one.collection(), "item", one.item(), "ago_ms", now - one.at(),
          "progress_s", one.progressS(), "duration_s", one.durationS(), "device", one.device() == null ? "" : one.device()));
      entry.put("fields", one.fields());
      all.add(entry);
    }
    return all;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> mapOf(JsonNode one) {
    return one.isMissingNode() || one.isNull() ? null : Caller.JSON.convertValue(one, Map.class);
  }

  /** A value of an item, as scenarios write it. */
  private static Object exact(JsonNode one) {
    if (one.has("i64")) return Long.parseLong(one.path("i64").asText());
    if (one.isTextual()) return one.asText();
    return one.isArray() ? each(one).map(ConformanceTest::exact).toList() : one;
  }

  /** The reverse. */
  private static Object spelled(Object one) {
    if (one instanceof List<?> list) return list.stream().map(ConformanceTest::spelled).toList();
    if (one instanceof Map<?, ?> map) return map.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, each -> spelled(each.getValue())));
    return one instanceof Long number && (number >= 1L << 53 || number <= -1L << 53) ? Map.of("i64", number.toString()) : one;
  }

  private static Item.Update update(JsonNode one) {
    Map<String, Object> set = new LinkedHashMap<>();
    one.path("set").fields().forEachRemaining(each -> set.put(each.getKey(), exact(each.getValue())));
    List<String> unset = each(one.path("unset")).map(JsonNode::asText).toList();
    return new Item.Update(given(one.path("id")), one.path("version").asLong(), set, unset, one.path("replace").asBoolean(), one.path("delete").asBoolean(), null);
  }

  private static List<Exposure> exposures(JsonNode list, long now) {
    return each(list).map(one -> new Exposure(given(one.path("user")), given(one.path("item")), one.has("ago_ms") ? now - one.path("ago_ms").asLong() : null, textOf(one, "surface"), textsOf(one, "of"), textsOf(one, "same_as"))).toList();
  }

  private static List<String> textsOf(JsonNode one, String name) {
    return one.has(name) ? each(one.path(name)).map(JsonNode::asText).toList() : null;
  }

  private static Duration spanOf(JsonNode one, String name) {
    String text = textOf(one, name);
    return text == null ? null : Duration.parse(text.endsWith("d") ? "P" + text : "PT" + text);
  }

  private static Rule rule(JsonNode one) {
    Map<String, Object> comparisons = new LinkedHashMap<>();
    one.fields().forEachRemaining(each -> comparisons.put(each.getKey(), exact(each.getValue())));
    comparisons.remove("field");
    return new Rule(textOf(one, "field"), comparisons);
  }

  private static NotEntry entry(JsonNode one) {
    return new NotEntry(textOf(one, "fact"), numberOf(one, "window"), spanOf(one, "within"), numberOf(one, "last"), textOf(one, "surface"));
  }

  /** A question with the candidates' groups, what makes them seen, sets, caps and rules. */
  private static Question question(JsonNode a, JsonNode candidates) {
    Question asked = new Question(given(a.path("user")), givenAll(candidates)).collection(textOf(a, "collection")).exclude(givenAll(a.path("exclude")))
        .not(each(a.path("not")).map(ConformanceTest::entry).toArray(NotEntry[]::new))
        .caps(each(a.path("caps")).map(one -> new Cap(textOf(one, "of"), one.path("n").asInt(), spanOf(one, "within"), textOf(one, "fact"))).toArray(Cap[]::new))
        .where(each(a.path("where")).map(ConformanceTest::rule).toArray(Rule[]::new)).excludeSets(each(a.path("exclude_sets")).map(JsonNode::asText).toArray(String[]::new)).collections(each(a.path("collections")).map(JsonNode::asText).toArray(String[]::new))
        .fields(each(a.path("fields")).map(JsonNode::asText).toArray(String[]::new));
    if (a.has("at_most")) asked = asked.atMost(textOf(a.path("at_most"), "field"), a.path("at_most").path("n").asInt());
    if (a.path("unknown").asText().equals("drop")) asked = asked.droppingUnknown();
    JsonNode dry = a.path("when_short");
    if (a.has("when_short")) asked = asked.whenShort(dry.path("need").asInt(), spanOf(dry, "gap"), dry.path("max").asInt());
    Map<Id, Groups> groups = new LinkedHashMap<>();
    for (JsonNode one : candidates) {
      if (one.has("id")) groups.put(given(one), new Groups(each(one.path("of")).map(JsonNode::asText).toList(), one.has("at") ? one.path("at").asLong() : null, each(one.path("same_as")).map(JsonNode::asText).toList()));
    }
    return groups.isEmpty() ? asked : asked.groups(groups::get);
  }

  private static List<Object> pairs(MarksPage page) {
    return page.marks().stream().map(one -> (Object) List.of(one.group(), one.until().equals(Client.ALWAYS) ? "always" : one.until().toEpochMilli())).toList();
  }

  private static Object filter(Client c, JsonNode a) {
    Question asked = question(a, a.path("items"));
    if (a.has("limit")) asked = asked.limit(a.path("limit").asInt());
    if (a.path("record").asBoolean()) asked = asked.recording();
    if (a.path("verify").asBoolean()) asked = asked.verified();
    if (a.path("explain").asBoolean()) asked = asked.explained();
    if (a.has("facts")) asked = asked.facts(each(a.path("facts")).map(JsonNode::asText).toArray(String[]::new));
    if (a.path("on_error").asText().equals("fail")) asked = asked.failing();
    if (a.has("deadline_ms")) asked = asked.within(Duration.ofMillis(a.path("deadline_ms").asInt()));
    Filtered found = c.filter(asked);
    Map<String, Object> answer = new LinkedHashMap<>(Map.of("unseen", told(found.unseen()), "seen", found.seen(), "examined", found.examined(), "degraded", found.degraded(),
        "missing", found.missing(), "excluded", found.excluded(), "duplicates", found.duplicates()));
    if (asked.record) answer.put("recorded", found.recorded());
    if (asked.groups != null) answer.put("undated", found.undated());
    if (a.path("explain").asBoolean()) answer.put("reasons", found.reasons());
    if (a.has("when_short")) {
      double share = found.unseenShare();  // a whole one is written as such
      answer.put("repeats", told(found.repeats()));
      answer.put("unseen_share", share == Math.rint(share) ? (Object) (int) share : (Object) share);
    }
    if (!a.path("fields").isEmpty()) answer.put("fields", spelled(found.fields()));
    if (!a.path("not").isEmpty()) answer.putAll(Map.of("coarse", found.coarse(), "beyond", found.beyond()));
    return answer;
  }

  private static Object make(Client c, String call, JsonNode a, long now) {
    Id user = a.has("user") ? given(a.path("user")) : null;
    String collection = textOf(a, "collection");
    switch (call) {
      case "record_plays", "bulk":
        List<Play> plays = each(a.path("plays")).map(one -> new Play(given(one.path("user")), given(one.path("item")),
            one.has("ago_ms") ? now - one.path("ago_ms").asLong() : null, numberOf(one, "progress_s"), numberOf(one, "duration_s"), textOf(one, "device"), mapOf(one.path("fields")), textsOf(one, "of"), textsOf(one, "same_as"))).toList();
        if (call.equals("record_plays")) return recorded(c.recordPlays(plays, collection));
        boolean shown = a.path("kind").asText().equals("exposures");
        Bulk bulk = c.bulk(shown ? Bulk.Kind.EXPOSURES : Bulk.Kind.PLAYS, collection, a.path("batch").asInt(), Duration.ofMinutes(1));
        (shown ? exposures(a.path("plays"), now) : plays).forEach(bulk::add);
        bulk.flush();
        Map<String, Object> sent = new LinkedHashMap<>(recorded(new Recorded(bulk.accepted(), bulk.refused(), bulk.refusals(), false, 0)));
        sent.remove("pending");
        return sent;
      case "record_exposures":
        return recorded(c.recordExposures(exposures(a.path("exposures"), now), collection));
      case "mark":
        c.mark(user, a.path("group").asText(), a.path("until").isNumber() ? Instant.ofEpochMilli(a.path("until").asLong()) : Client.ALWAYS);
        return DONE;
      case "unmark":
        return Map.of("deleted", c.unmark(user, a.path("group").asText()));
      case "marks":
        MarksPage marks = c.marks(user, a.path("limit").asInt(100), null);
        Map<String, Object> page = new LinkedHashMap<>(Map.of("marks", pairs(marks), "more", marks.cursor() != null, "degraded", marks.degraded()));
        if (marks.cursor() != null) page.put("next", pairs(c.marks(user, a.path("limit").asInt(), marks.cursor())));
        return page;
      case "put_item_schema":
        c.putItemSchema(each(a.path("fields")).map(one -> new Item.Field(one.path("name").asText(), one.path("type").asText(), one.path("column").asBoolean())).toList());
        return DONE;
      case "put_items":
        Recorded taken = c.putItems(each(a.path("updates")).map(ConformanceTest::update).toList());
        Map<String, Object> said = new LinkedHashMap<>(recorded(taken));
        said.put("stale", taken.stale());
        return said;
      case "get_items":
        return Map.of("items", c.getItems(givenAll(a.path("ids")), each(a.path("fields")).map(JsonNode::asText).toArray(String[]::new)).stream()
            .map(one -> Map.of("id", told(List.of(one.id())).get(0), "version", one.version(), "fields", spelled(one.fields()))).toList());
      case "put_set":
        ItemSet put = c.putSet(textOf(a, "name"), givenAll(a.path("items")));
        return Map.of("name", put.name(), "count", put.count());
      case "get_set":
        ItemSet set = c.getSet(textOf(a, "name"), a.path("limit").asInt(1_000), null);
        Map<String, Object> members = new LinkedHashMap<>(Map.of("name", set.name(), "count", set.count(), "items", set.items(), "more", set.cursor() != null));
        if (set.cursor() != null) members.put("next", c.getSet(set.name(), a.path("limit").asInt(), set.cursor()).items());
        return members;
      case "delete_set":
        c.deleteSet(textOf(a, "name"));
        return DONE;
      case "sets":
        return Map.of("sets", c.sets().stream().filter(one -> one.name().startsWith(textOf(a, "prefix"))).map(one -> List.of(one.name(), one.count())).toList());
      case "counts":
        CountsPage counts = c.counts(user, textOf(a, "of"), collection);
        return Map.of("counts", counts.counts().stream().map(one -> List.of(one.key(), one.served(), one.exposed(), one.played(), one.atLeast())).toList(),
            "more", counts.more(), "degraded", counts.degraded());
      case "reserve":
        Reserved made = c.reserve(question(a, a.path("items")), Duration.ofMillis(a.path("expires_ms").asLong(60_000)));
        return Map.of("reserved", told(made.reserved()), "refused", told(made.refused()));
      case "record_impressions":
        return recorded(c.recordImpressions(question(a, a.path("items"))));
      case "filter":
        return filter(c, a);
      case "fill_page":
        Client.WhenDegraded when = Client.WhenDegraded.valueOf(a.path("when_degraded").asText("fail_open").toUpperCase());
        return Map.of("ids", told(c.fillPage(question(a, a.path("candidates")), a.path("need").asInt(), when)));
      case "search_unseen":
        List<Id> best = givenAll(a.path("best"));
        return Map.of("ids", told(c.searchUnseen(count -> best.subList(0, Math.min(count, best.size())), question(a, a.path("best")), a.path("k").asInt())));
      case "history_page":
        HistoryPage watched = c.historyPage(user, collection, a.path("limit").asInt(100), null);
        return Map.of("entries", entries(now, watched.entries()), "more", watched.cursor() != null, "kept", !Boolean.FALSE.equals(watched.kept()), "degraded", watched.degraded());
      case "history":
        return Map.of("entries", entries(now, c.history(user, null)));
      case "look_up_history":
        return Map.of("entries", entries(now, c.lookUpHistory(user, givenAll(a.path("items")), collection).values()));
      case "delete_history":
        c.deleteHistory(user, givenAll(a.path("items")), collection, textsOf(a, "same_as"));
        return DONE;
      case "clear_history":
        c.clearHistory(user, collection);
        return DONE;
      case "set_recording":
        c.setRecording(user, a.path("recording").asBoolean());
        return DONE;
      case "inspect":
        return Map.of("user", c.inspect(user).path("user").asText());
      case "export":
        return Map.of("types", c.export(user).stream().map(one -> one.path("type").asText()).distinct().toList());
      case "erase":
        return Map.of("known", c.erase(user));
      case "collections":
        return Map.of("names", c.collections().stream().map(one -> one.path("name").asText()).filter(name -> name.startsWith("conf-x")).toList());
      case "put_collection":
        c.putCollection(a.path("name").asText(), mapOf(a.path("policy")));
        return DONE;
      case "delete_collection":
        c.deleteCollection(a.path("name").asText());
        return DONE;
      default:
        JsonNode answer = c.call(a.path("method").asText(), a.path("path").asText(), mapOf(a.path("body")));
        Map<String, Object> kept = new LinkedHashMap<>();
        each(a.path("only")).forEach(name -> kept.put(name.asText(), answer.path(name.asText())));
        return kept;
    }
  }

  /** What differs; null: nothing. */
  private static String play(Client c, JsonNode row, Path tokenFile) throws IOException, InterruptedException {
    String run = UUID.randomUUID().toString().substring(0, 12);
    long now = System.currentTimeMillis();
    for (JsonNode step : Caller.JSON.readTree(row.path("steps").toString().replace("$run", run))) {
      if (step.has("sleep_ms")) Thread.sleep(step.path("sleep_ms").asLong());
      if (step.has("write_token")) write(tokenFile, step.path("write_token").asText(), 1);
      if (!step.has("call")) continue;
      Map<String, Object> outcome = new LinkedHashMap<>();
      try {
        outcome.put("answer", make(c, step.path("call").asText(), step.path("args"), now));
      } catch (SeenDBException error) {
        Map<String, Object> failure = new LinkedHashMap<>(Map.of("code", error.code, "field", error.field));
        if (step.path("error").has("status")) failure.put("status", error.status);
        outcome.put("error", failure);
      } catch (RuntimeException error) { // a client throws nothing else
        outcome.put("error", error.toString());
      }
      JsonNode same = Caller.JSON.readTree(Caller.JSON.writeValueAsBytes(outcome));
      for (String part : List.of("answer", "error")) {
        if (step.has(part) && !same.path(part).equals(step.path(part))) {
          String args = step.path("args").toString();
          return row.path("name") + ": " + step.path("call") + args.substring(0, Math.min(300, args.length())) + ": " + same + ", not " + step.path(part);
        }
      }
    }
    return null;
  }

  private static void write(Path file, String text, long atS) throws IOException {
    Files.writeString(file, text + "\n");
    Files.setLastModifiedTime(file, FileTime.fromMillis(atS * 1_000));
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "SEENDB_URL", matches = ".+")
  void scenariosOnAServer() throws IOException, InterruptedException {
    Options options = new Options();
    options.timeout = Duration.ofSeconds(30);
    Client c = new Client(options, System.getenv("SEENDB_URL"));
    List<String> wrong = new ArrayList<>();
    List<JsonNode> rows = scenarios(false);
    for (JsonNode row : rows) {
      String one = play(c, row, null);
      if (one != null) wrong.add(one);
    }
    assertEquals("", String.join("\n", wrong));
    assertTrue(rows.size() > 180);
  }

  @Test
  void scenariosOnADouble() throws IOException, InterruptedException {
    List<String> wrong = new ArrayList<>();
    List<JsonNode> rows = scenarios(false, "facts.json", "ids.json", "items.json", "pages.json", "sets.json");
    for (JsonNode row : rows) {
      String one = play(new DoubleClient(), row, null);
      if (one != null) wrong.add(one);
    }
    assertEquals("", String.join("\n", wrong));
    assertTrue(rows.size() > 80);
  }

  @Test
  void aDoubleFailsAsItIsTold() {
    DoubleClient c = new DoubleClient();
    c.fail("timeout", "busy");
    assertEquals(List.of(Id.of("a")), c.fillPage(Id.of("u"), Id.of("a", "b"), 1, Client.WhenDegraded.FAIL_OPEN));
    SeenDBException error = assertThrows(SeenDBException.class, () -> c.fillPage(Id.of("u"), Id.of("a", "b"), 1, Client.WhenDegraded.FAIL_CLOSED));
    assertEquals("busy", error.code);
    c.degrade(true);
    assertEquals(List.of("double"), c.filter(Id.of("u"), Id.of("a", "b")).missing());
    assertEquals(List.of("double"), c.filter(Id.of("u"), Id.of(1L, 2L)).missing());
    assertEquals(List.of("filter", "filter", "filter", "filter"), c.calls());
  }

  @Test
  void aDoubleNamesWhereGroupsAreTheSame() {
    DoubleClient c = new DoubleClient();
    Id user = Id.of("u");
    List<String> same = List.of("g");
    Map<String, Runnable> calls = Map.of(
        "/events/1/same_as", () -> c.recordPlays(List.of(new Play(user, Id.of("a")), new Play(user, Id.of("b"), null, null, null, null, null, null, same))),
        "/events/0/same_as", () -> c.recordExposures(List.of(new Exposure(user, Id.of("a"), null, null, null, same))),
        "/items/1/same_as", () -> c.filter(new Question(user, Id.of("a", "b")).groups(id -> id.equals(Id.of("b")) ? new Groups().sameAs("g") : null)));
    calls.forEach((field, call) -> {
      SeenDBException error = assertThrows(SeenDBException.class, call::run);
      assertEquals(List.of("invalid_argument", field, 400), List.of(error.code, error.field, error.status));
    });
  }

  @Test
  void aDoubleTakesBatchesOfEachForm() {
    DoubleClient c = new DoubleClient();
    Bulk bulk = c.bulk(Bulk.Kind.PLAYS, null, 2, Duration.ofMinutes(1));
    bulk.add(new Play(Id.of(1L), Id.of(-1L)));
    bulk.add(new Play(Id.of("u"), Id.of("caf\u00e9")));
    bulk.add(new Play(Id.of(1L), Id.of(3L)));
    bulk.add(new Play(Id.of("u"), Id.of("b"), null, null, null, "tv", null, null, null));
    bulk.flush();
    assertEquals(4, bulk.accepted());
    assertEquals(List.of("bulk", "bulk", "bulk"), c.calls());
    assertEquals(List.of(Id.of(5L)), c.filter(Id.of(1L), Id.of(-1L, 3L, 5L)).unseen());
    assertEquals(List.of(Id.of("c")), c.filter(Id.of("u"), Id.of("caf\u00e9", "b", "c")).unseen());
  }

  @Test
  void aBulkTakesOneKindOfEvents() {
    DoubleClient c = new DoubleClient();
    Exposure shown = new Exposure(Id.of("u"), Id.of("a"), "home");
    Bulk bulk = c.bulk(Bulk.Kind.EXPOSURES, null, 9, Duration.ofMinutes(1));
    assertEquals("/events/0", assertThrows(SeenDBException.class, () -> c.bulk(null).add(shown)).field);
    assertEquals("/events/0", assertThrows(SeenDBException.class, () -> bulk.add(new Play(Id.of("u"), Id.of("b")))).field);
    bulk.add(shown);
    bulk.flush();
    for (String surface : List.of("home", "search")) {
      Question asked = new Question(Id.of("u"), Id.of("a", "b")).not(new NotEntry("exposed", null, null, null, surface));
      assertEquals(surface.equals("home") ? List.of(Id.of("b")) : Id.of("a", "b"), c.filter(asked).unseen());
    }
    assertEquals("{\"fact\":\"exposed\",\"within\":\"90000ms\",\"last\":5}", new String(Client.bytes(new NotEntry("exposed", null, Duration.ofSeconds(90), 5, null)), StandardCharsets.UTF_8));
  }

  private static SSLContext trusting(String path) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (InputStream in = Files.newInputStream(Path.of(path))) {
      store.setCertificateEntry("liar", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private static JsonNode control(String method, String url) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).method(method, HttpRequest.BodyPublishers.noBody()).build();
    return Caller.JSON.readTree(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray()).body());
  }

  @Test
  void scenariosOnALiar(@TempDir Path folder) throws IOException, InterruptedException, GeneralSecurityException {
    Process liar = new ProcessBuilder("python3", FOLDER.resolve("liar.py").toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String url = new BufferedReader(new InputStreamReader(liar.getInputStream(), StandardCharsets.UTF_8)).readLine();
    List<String> wrong = new ArrayList<>();
    List<JsonNode> rows = scenarios(true);
    for (JsonNode row : rows) {
      if (row.path("servers").toString().contains("\"unix\"")) continue; // java.net.http knows no such address
      JsonNode begun = control("POST", url + "/" + Caller.encoded(row.path("name").asText()));
      JsonNode said = row.path("client");
      Options options = new Options();
      options.timeout = Duration.ofMillis(said.path("timeout_ms").asLong());
      options.retries = said.path("retries").asInt(1);
      if (said.has("hedge_ms")) options.hedge = Duration.ofMillis(said.path("hedge_ms").asLong());
      options.cluster = said.path("cluster").asBoolean();
      options.token = textOf(said, "token");
      if (said.path("ca").asBoolean()) options.tls = trusting(begun.path("ca").asText());
      Path tokenFile = folder.resolve("token");
      if (said.has("token_file")) {
        write(tokenFile, said.path("token_file").asText(), 9);
        options.tokenFile = tokenFile;
      }
      options.dns = begun.path("dns").asText(null);
      String[] urls = each(begun.path("urls")).map(JsonNode::asText).limit(row.path("only").asInt(9)).toArray(String[]::new);
      String one = play(new Client(options, urls), row, tokenFile);
      if (one != null) wrong.add(one);
      control("GET", url + "/differences").forEach(told -> wrong.add(row.path("name") + ": " + told.asText()));
    }
    liar.getOutputStream().close(); // it ends with that
    assertEquals("", String.join("\n", wrong));
    assertTrue(rows.size() > 80);
  }
}
