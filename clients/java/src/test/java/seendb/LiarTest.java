package seendb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a server that refuses, cuts, stalls and lies (Liar). */
class LiarTest {
  private static final String UNSEEN = says(200, "{\"unseen\":[\"v\"],\"seen\":0,\"examined\":1,\"degraded\":false}");

  private static String says(int status, String body, String... headers) {
    String more = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
    return "HTTP/1.1 " + status + " X\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n" + more + "\r\n" + body;
  }

  private static String refusal(int status, String code, String... headers) {
    return says(status, "{\"error\":{\"code\":\"" + code + "\",\"message\":\"no\",\"field\":\"\"}}", headers);
  }

  private static Client client(Options options, String... urls) {
    if (options.timeout.equals(Duration.ofSeconds(1))) options.timeout = Duration.ofSeconds(10);
    return new Client(options, urls);
  }

  private static void ask(Client client) {
    assertEquals(List.of(Id.of("v")), client.filter(Id.of("u"), List.of(Id.of("v"))).unseen());
  }

  private static void fails(String code, Runnable call) {
    SeenDBException error = assertThrows(SeenDBException.class, call::run);
    assertEquals(code, error.code, error.toString());
  }

  @Test
  void aRefusalIsWaitedForAndAskedAgain() {
    for (int status : new int[] {429, 503}) {
      Liar liar = new Liar(refusal(status, "overloaded", "SeenDB-Retry-After-Ms: 30"), UNSEEN);
      long began = System.nanoTime();
      ask(client(new Options(), liar.url));
      assertTrue(System.nanoTime() - began >= 30_000_000);
      assertEquals("1", liar.requests.get(1).headers().get("SeenDB-Attempt"));
    }
  }

  @Test
  void secondTriesHaveABudget() {
    Liar liar = new Liar(Collections.nCopies(200, refusal(503, "overloaded")).toArray(String[]::new));
    Client client = client(new Options(), liar.url);
    for (int i = 0; i < 50; ++i) fails("overloaded", () -> ask(client));
    assertTrue(liar.requests.size() <= 65, () -> "" + liar.requests.size());
  }

  @Test
  void whatIsWrongIsNotAskedAgain() {
    for (int status : new int[] {400, 403, 404, 409, 413, 415, 500}) {
      Liar liar = new Liar(refusal(status, "no"), UNSEEN);
      fails("no", () -> ask(client(new Options(), liar.url)));
      assertEquals(1, liar.requests.size());
    }
  }

  @Test
  void aPlayKeepsItsTimeOverBothTriesAndReadsSeeIt() {
    Liar liar = new Liar(refusal(503, "busy"), says(200, "{\"accepted\":1,\"refused\":0,\"refusals\":[]}", "SeenDB-Position: 3:7"), UNSEEN);
    Client client = client(new Options(), liar.url);
    client.recordPlays(List.of(new Play(Id.of("u"), Id.of("v"))));
    assertEquals(liar.requests.get(0).body(), liar.requests.get(1).body());
    ask(client);
    assertEquals("3:7", liar.requests.get(2).headers().get("SeenDB-Position"));
  }

  @Test
  void liesAndCutsAreErrors() {
    Options once = new Options();
    once.retries = 0;
    Map.of(
        "SSH-2.0-OpenSSH\r\n\r\nCUT", "protocol",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nCUT", "unavailable",
        "HTTP/1.1 200 OKCUT", "unavailable",
        says(200, "<html>"), "protocol",
        says(500, "<html>"), "protocol")
        .forEach((text, code) -> fails(code, () -> ask(client(once, new Liar(text).url))));
  }

  @Test
  void aServerThatStallsCostsTheTimeout() {
    Options short_ = new Options();
    short_.timeout = Duration.ofSeconds(2);
    long began = System.nanoTime();
    fails("timeout", () -> ask(client(short_, new Liar("STALL").url)));
    assertTrue(System.nanoTime() - began < 15_000_000_000L);
  }

  @Test
  void aBodyThatStallsCostsTheTimeoutAndTheConnection() throws InterruptedException {
    Options short_ = new Options();
    short_.timeout = Duration.ofSeconds(2);
    Liar liar = new Liar(UNSEEN.substring(0, UNSEEN.length() - 5));
    long began = System.nanoTime();
    fails("timeout", () -> ask(client(short_, liar.url)));
    assertTrue(System.nanoTime() - began < 10_000_000_000L);
    for (int i = 0; i < 200 && liar.ended.get() == 0; ++i) Thread.sleep(50);
    assertEquals(1, liar.ended.get());
  }

  @Test
  void aServerThatIsGoneCostsNoCall() {
    String gone = Liar.nobody();
    Liar there = new Liar(Collections.nCopies(100, UNSEEN).toArray(String[]::new));
    Options options = new Options();
    options.retries = 0;
    AtomicInteger tries = new AtomicInteger();
    options.onCall = (name, took, status, count) -> tries.addAndGet(count);
    Client client = client(options, gone, there.url);
    for (int i = 0; i < 99; ++i) ask(client);
    assertTrue(tries.get() < 150, () -> "it comes last for a while: " + tries);
    client.call("POST", "/once", null); // nothing was sent, so that may move on too
    assertTrue(there.headers("SeenDB-Attempt").stream().allMatch(one -> one == null));
    fails("unavailable", () -> ask(client(options, gone)));
  }

  @Test
  void aServerThatTakesNoConnectionCostsAThirdOfTheTime() throws IOException {
    try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      List<Socket> waiting = new ArrayList<>();
      try {
        for (int i = 0; i < 8; ++i) {
          waiting.add(new Socket());
          waiting.get(i).connect(full.getLocalSocketAddress(), 200);
        }
      } catch (SocketTimeoutException error) {
        // full
      }
      Options options = new Options();
      options.timeout = Duration.ofSeconds(6);
      options.retries = 0;
      long began = System.nanoTime();
      ask(new Client(options, "http://127.0.0.1:" + full.getLocalPort(), new Liar(UNSEEN).url));
      assertTrue(System.nanoTime() - began >= 1_900_000_000L);
      for (Socket socket : waiting) socket.close();
    }
  }

  @Test
  void whatMustNotBeDoubledIsNotSentAgain() {
    Liar liar = new Liar(UNSEEN, "", UNSEEN, "", UNSEEN); // the second and fourth break the connection that was kept
    Client client = client(new Options(), liar.url);
    ask(client);
    fails("unavailable", () -> client.call("POST", "/once", Map.of()));
    assertEquals(2, liar.requests.size());
    ask(client);
    ask(client);
    assertEquals(5, liar.requests.size());
  }

  @Test
  void moreCallsThanConnectionsWait() {
    Liar liar = new Liar(Collections.nCopies(12, UNSEEN).toArray(String[]::new));
    liar.delayMs = 20;
    Options options = new Options();
    options.connections = 2;
    Client client = client(options, liar.url);
    IntStream.range(0, 12).mapToObj(i -> CompletableFuture.runAsync(() -> ask(client), one -> new Thread(one).start())).toList().forEach(CompletableFuture::join);
    assertEquals(12, liar.requests.size());
    assertTrue(liar.most.get() <= 2, () -> "" + liar.most);
  }

  @Test
  void aDateToRetryAfterIsNoNumber() {
    Liar liar = new Liar(refusal(503, "busy", "Retry-After: Fri, 27 Nov 2026 05:00:00 GMT"), UNSEEN);
    ask(client(new Options(), liar.url));
    assertEquals(2, liar.requests.size());
  }

  @Test
  void anEmptyTokenFileIsNamed(@TempDir Path folder) throws IOException {
    Options options = new Options();
    options.tokenFile = Files.createFile(folder.resolve("token"));
    SeenDBException error = assertThrows(SeenDBException.class, () -> ask(client(options, new Liar(UNSEEN).url)));
    assertEquals("invalid_argument", error.code);
    assertTrue(error.getMessage().contains("has no token"), error.getMessage());
  }

  @Test
  void aTokenIsReadAgainWhenItsFileChanges(@TempDir Path folder) throws IOException {
    Options options = new Options();
    options.tokenFile = folder.resolve("token");
    Liar liar = new Liar(UNSEEN, UNSEEN);
    Client client = client(options, liar.url);
    for (String token : List.of("first", "second")) {
      Files.writeString(options.tokenFile, token + "\n");
      Files.setLastModifiedTime(options.tokenFile, FileTime.fromMillis(token.length() * 1_000L));
      ask(client);
    }
    assertEquals(List.of("Bearer first", "Bearer second"), liar.headers("Authorization"));
  }

  /** What GET /cluster says of four partitions, each with the nodes of these URLs, n0 first. */
  private static String view(List<String> states, List<String> urls) {
    List<String> nodes = new ArrayList<>();
    List<String> replicas = new ArrayList<>();
    for (int n = 0; n < urls.size(); ++n) {
      nodes.add("{\"node\":\"n" + n + "\",\"url\":\"" + urls.get(n) + "\",\"state\":\"" + states.get(n) + "\"}");
      replicas.add("{\"node\":\"n" + n + "\"}");
    }
    List<String> shards = IntStream.range(0, 4).mapToObj(p -> "{\"partition\":" + p + ",\"replicas\":[" + String.join(",", replicas) + "]}").toList();
    return says(200, "{\"partitions\":4,\"placement_offset\":1,\"nodes\":[" + String.join(",", nodes) + "],\"shards\":[" + String.join(",", shards) + "]}");
  }

  private static Options cluster() {
    Options options = new Options();
    options.cluster = true;
    options.retries = 0;
    return options;
  }

  @Test
  void aNodeThatHasNotTheUserIsNotAskedDirectlyAgain() throws InterruptedException {
    Liar liar = new Liar();
    String view = view(List.of("up"), List.of(liar.url));
    liar.texts.addAll(List.of(view, UNSEEN, refusal(421, "other_node"), UNSEEN, view, UNSEEN));
    Client client = client(cluster(), liar.url);
    ask(client);
    ask(client);
    assertEquals(List.of("/cluster", "/filter", "/filter", "/filter"), liar.paths());
    assertEquals(Arrays.asList(null, "direct", "direct", null), liar.headers("SeenDB-Route"));
    assertEquals(Arrays.asList(null, null, null, null), liar.headers("SeenDB-Attempt"));
    Thread.sleep(1_100); // no sooner is the placement asked for again
    ask(client);
    assertEquals(List.of("/cluster", "/filter"), liar.paths().subList(4, 6));
    assertEquals("direct", liar.requests.get(5).headers().get("SeenDB-Route"));
  }

  @Test
  void nodesThatAreUpComeFirst() {
    Liar down = new Liar();
    Liar up = new Liar(UNSEEN);
    Liar seed = new Liar(view(List.of("down", "up"), List.of(down.url, up.url)));
    ask(client(cluster(), seed.url));
    assertEquals(List.of("direct"), up.headers("SeenDB-Route"));
    assertEquals(List.of(), down.requests);
  }

  @Test
  void aNodeThatIsGoneIsPassedOver() {
    String gone = Liar.nobody();
    Liar other = new Liar(UNSEEN, UNSEEN);
    Liar seed = new Liar(view(List.of("up", "up"), List.of(gone, other.url)), UNSEEN);
    Client client = client(cluster(), seed.url);
    ask(client);
    ask(client);
    assertEquals(Arrays.asList((String) null), other.headers("SeenDB-Route"));
    assertEquals(List.of("/cluster", "/filter"), seed.paths()); // whose turn it is while the node is away
  }

  @Test
  void aPlacementThatIsNoneLeavesTheFormer() {
    for (String view : List.of(says(200, "<html>"), says(503, "{}"), says(200, "{}"), view(List.of("up"), List.of("ftp://nowhere")), "SSH-2.0-OpenSSH\r\n\r\nCUT")) {
      Liar liar = new Liar(view, UNSEEN);
      ask(client(cluster(), liar.url));
      assertEquals(List.of("/cluster", "/filter"), liar.paths());
    }
  }

  @Test
  void aPageWhoseServerIsAway() {
    Liar liar = new Liar(says(200, "{\"unseen\":[\"a\",\"c\"],\"seen\":1,\"examined\":3,\"degraded\":false}"), refusal(503, "busy"), refusal(503, "busy"), refusal(503, "busy"));
    Options options = new Options();
    options.retries = 0;
    Client client = client(options, liar.url);
    List<Id> candidates = Id.of("a", "b", "c", "d");
    assertEquals(Id.of("a", "c"), client.fillPage(Id.of("u"), candidates, 2, Client.WhenDegraded.FAIL_OPEN));
    assertEquals(Id.of("b", "d"), client.fillPage(Id.of("u"), candidates, 2, Client.WhenDegraded.LAST_KNOWN));
    assertEquals(Id.of("a", "b"), client.fillPage(Id.of("u"), candidates, 2, Client.WhenDegraded.FAIL_OPEN));
    fails("busy", () -> client.fillPage(Id.of("u"), candidates, 2, Client.WhenDegraded.FAIL_CLOSED));
  }

  @Test
  void aPageIsFilledWhereAProxyOrALimitRefuses() {
    for (String answer : List.of(refusal(429, "rate_limited"), says(502, "<html>"), says(504, ""))) {
      Options options = new Options();
      options.retries = 0;
      assertEquals(List.of(Id.of("a")), client(options, new Liar(answer).url).fillPage(Id.of("u"), Id.of("a", "b"), 1, Client.WhenDegraded.FAIL_OPEN));
    }
  }

  @Test
  void aPageThatFailsClosedSaysSo() {
    String bits = "HTTP/1.1 200 X\r\nContent-Length: 1\r\nSeenDB-Seen: 0\r\nSeenDB-Examined: 1\r\nSeenDB-Degraded: 0\r\n\r\n\u0001";
    Liar liar = new Liar(bits, says(200, "{\"unseen\":[\"a\"]}"), bits);
    Client client = client(new Options(), liar.url);
    client.fillPage(Id.of("u"), List.of(Id.of(7)), 1, Client.WhenDegraded.FAIL_CLOSED);
    client.fillPage(Id.of("u"), List.of(Id.of("a")), 1, Client.WhenDegraded.FAIL_CLOSED);
    client.fillPage(Id.of("u"), List.of(Id.of(7)), 1, Client.WhenDegraded.FAIL_OPEN);
    assertTrue(liar.paths().get(0).contains("on_error=fail"), liar.paths().get(0));
    assertTrue(liar.requests.get(1).body().contains("\"on_error\":\"fail\""));
    assertTrue(!liar.paths().get(2).contains("on_error"));
    int deadlineMs = Integer.parseInt(liar.paths().get(0).replaceAll(".*deadline_ms=(\\d+).*", "$1"));
    assertTrue(deadlineMs > 4_000 && deadlineMs <= 8_000, () -> "four fifths of 10 s: " + deadlineMs);
  }

  @Test
  void theTimeoutIsOfTheWholePage() {
    List<Id> candidates = IntStream.range(0, 3_000).mapToObj(i -> Id.of("c" + i)).toList();
    Liar liar = new Liar(says(200, "{\"unseen\":[\"c0\"]}"), says(200, "{\"unseen\":[]}"), "STALL");
    liar.delayMs = 300;
    assertEquals(Id.of("c0", "c2000"), client(new Options(), liar.url).fillPage(Id.of("u"), candidates, 2, Client.WhenDegraded.FAIL_OPEN, null, List.of(), Duration.ofSeconds(2)));
    List<Integer> left = liar.headers("SeenDB-Timeout-Ms").stream().map(Integer::valueOf).toList();
    assertTrue(left.get(0) <= 2_000 && left.get(1) <= left.get(0) - 300 && left.get(2) <= left.get(1) - 300, left::toString);
  }

  @Test
  void numbersBeyondADoubleGoAsText() {
    Id big = Id.of((1L << 53) + 1);
    for (String told : List.of("\"9007199254740993\"", "9007199254740993")) {
      Liar liar = new Liar(says(200, "{\"unseen\":[" + told + "]}"));
      List<Id> unseen = client(new Options(), liar.url).filter(Id.of(-1L), List.of(big, Id.of("v"))).unseen();
      assertEquals(List.of(big), unseen);
      assertTrue(unseen.get(0).isNumber());
      assertTrue(liar.requests.get(0).body().contains("[\"9007199254740993\",\"v\"]"), liar.requests.get(0).body());
      assertTrue(liar.requests.get(0).body().contains("\"18446744073709551615\""), liar.requests.get(0).body());
    }
  }

  @Test
  void aPositionIsTheNewestOfEachPartition() {
    Routing.Positions positions = new Routing.Positions();
    for (String told : List.of("3:1042", "5:7", "3:999,5:6", "", "what", "1:1,2:1,3:9999,4:1,5:1,6:1,7:1,8:1,9:1")) positions.note(List.of("u", "w"), told);
    assertEquals("3:1042,5:7", positions.of("u"));
    for (int p = 9; p > 0; --p) positions.note(List.of("u"), p + ":2000"); // the newest is kept, whichever it is
    assertEquals("1:2000,2:2000,3:2000,4:2000,5:2000,6:2000,7:2000,8:2000", positions.of("u"));
    for (int i = 0; i < 10_000; ++i) positions.note(List.of("x" + i), "0:1");
    assertNull(positions.of("u"));
    assertEquals("0:1", positions.of("x0"));
  }

  @Test
  void aPlayForKafkaIsWhatTheServerTakes() throws IOException {
    KafkaPlay one = KafkaPlay.of(new Play(Id.of(42), Id.of(-1L), 5L, 7, null, "tv", null, null, null));
    assertEquals("42", new String(one.key(), StandardCharsets.UTF_8));
    assertEquals(Caller.JSON.readTree("{\"user\":\"42\",\"item\":\"18446744073709551615\",\"at\":5,\"progress_s\":7,\"device\":\"tv\"}"), Caller.JSON.readTree(one.value()));
    assertEquals(Routing.partitionOf(Id.of("42"), 64), one.partition(64));
    fails("invalid_argument", () -> KafkaPlay.of(new Play(Id.of(""), Id.of("v"))));
  }

  @Test
  void aClosedClientSaysSo() {
    Client client = client(new Options(), new Liar(UNSEEN, UNSEEN).url);
    try (client) {
      ask(client);
    }
    fails("closed", () -> ask(client));
  }

  @Test
  void murmur2IsKafkas() {
    Map.of("21", -973932308, "foobar", -790332482, "a-little-bit-long-string", -985981536, "a-little-bit-longer-string", -1486304829,
        "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971, "abc", 479470107)
        .forEach((text, value) -> assertEquals(value, Routing.murmur2(text.getBytes(StandardCharsets.UTF_8)), text));
  }
}
