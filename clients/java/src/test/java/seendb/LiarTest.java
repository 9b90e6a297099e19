package seendb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a server that refuses, cuts, stalls and lies. */
class LiarTest {
  private static final String UNSEEN = says(200, "{\"unseen\":[\"v\"],\"seen\":0,\"examined\":1,\"degraded\":false}");

  private static String says(int status, String body, String... headers) {
    String more = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
    return "HTTP/1.1 " + status + " X\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n" + more + "\r\n" + body;
  }

  private static String refusal(int status, String code, String... headers) {
    return says(status, "{\"error\":{\"code\":\"" + code + "\",\"message\":\"no\",\"field\":\"\"}}", headers);
  }

  private record Request(String line, Map<String, String> headers, String body) {}

  /** Answers request after request from a list: "" closes without an answer, a text that ends in CUT is sent without that. */
  private static final class Liar {
    final List<Request> requests = Collections.synchronizedList(new ArrayList<>());
    final Queue<String> texts = new ArrayDeque<>();
    final String url;
    private final ServerSocket server;

    Liar(String... texts) {
      this.texts.addAll(Arrays.asList(texts));
      try {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
      url = "http://127.0.0.1:" + server.getLocalPort();
      daemon(this::accept);
    }

    private static void daemon(Runnable work) {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() {
      try {
        while (true) {
          Socket socket = server.accept();
          daemon(() -> serve(socket));
        }
      } catch (IOException error) {
        // closed
      }
    }

    private void serve(Socket socket) {
      try (socket) {
        InputStream in = socket.getInputStream();
        for (Request request = read(in); request != null; request = read(in)) {
          requests.add(request);
          String text;
          synchronized (texts) {
            text = texts.poll();
          }
          if ("STALL".equals(text)) Thread.sleep(20_000);
          if (text == null || text.isEmpty()) return;
          boolean cut = text.endsWith("CUT");
          socket.getOutputStream().write((cut ? text.substring(0, text.length() - 3) : text).getBytes(StandardCharsets.UTF_8));
          if (cut) return;
        }
      } catch (IOException | InterruptedException error) {
        // the client went
      }
    }

    private static Request read(InputStream in) throws IOException {
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      while (!head.toString(StandardCharsets.UTF_8).endsWith("\r\n\r\n")) {
        int next = in.read();
        if (next < 0) return null;
        head.write(next);
      }
      String[] lines = head.toString(StandardCharsets.UTF_8).split("\r\n");
      Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      for (int i = 1; i < lines.length; ++i) headers.put(lines[i].split(": ", 2)[0], lines[i].split(": ", 2)[1]);
      byte[] body = in.readNBytes(Integer.parseInt(headers.getOrDefault("Content-Length", "0")));
      return new Request(lines[0], headers, new String(body, StandardCharsets.UTF_8));
    }

    void close() throws IOException {
      server.close();
    }
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
      assertEquals("1", liar.requests.get(1).headers.get("SeenDB-Attempt"));
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
    assertEquals(liar.requests.get(0).body, liar.requests.get(1).body);
    ask(client);
    assertEquals("3:7", liar.requests.get(2).headers.get("SeenDB-Position"));
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
    short_.timeout = Duration.ofMillis(500);
    long began = System.nanoTime();
    fails("timeout", () -> ask(client(short_, new Liar("STALL").url)));
    assertTrue(System.nanoTime() - began < 15_000_000_000L);
  }

  @Test
  void theNextServerIsAskedWhereOneIsAway() throws IOException {
    Liar gone = new Liar();
    gone.close();
    Client client = client(new Options(), gone.url, new Liar(UNSEEN, UNSEEN, UNSEEN).url);
    for (int i = 0; i < 3; ++i) ask(client);
    fails("unavailable", () -> ask(client(new Options(), gone.url)));
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
    assertEquals(List.of("Bearer first", "Bearer second"), liar.requests.stream().map(one -> one.headers.get("Authorization")).toList());
  }

  @Test
  void aClustersNodeIsAskedDirectly() {
    Liar liar = new Liar();
    StringBuilder shards = new StringBuilder();
    for (int p = 0; p < 4; ++p) shards.append(p == 0 ? "" : ",").append("{\"partition\":").append(p).append(",\"replicas\":[{\"node\":\"n1\"}]}");
    String view = says(200, "{\"partitions\":4,\"placement_offset\":1,\"nodes\":[{\"node\":\"n1\",\"url\":\"" + liar.url + "\"}],\"shards\":[" + shards + "]}");
    liar.texts.addAll(List.of(view, UNSEEN, refusal(421, "other_node"), view, UNSEEN));
    Options options = new Options();
    options.cluster = true;
    options.retries = 0;
    Client client = client(options, liar.url);
    ask(client);
    ask(client);
    assertEquals(List.of("/cluster", "/filter", "/filter", "/cluster", "/filter"), liar.requests.stream().map(one -> one.line.split(" ")[1]).toList());
    assertEquals(Arrays.asList(null, "direct", "direct", null, null), liar.requests.stream().map(one -> one.headers.get("SeenDB-Route")).toList());
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
  void murmur2IsKafkas() {
    Map.of("21", -973932308, "foobar", -790332482, "a-little-bit-long-string", -985981536, "a-little-bit-longer-string", -1486304829,
        "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971, "abc", 479470107)
        .forEach((text, value) -> assertEquals(value, Routing.murmur2(text.getBytes(StandardCharsets.UTF_8)), text));
  }
}
