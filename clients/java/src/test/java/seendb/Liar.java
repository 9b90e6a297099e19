package seendb;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers request after request from a list: "" closes without an answer, a text that ends in CUT is sent without that. */
final class Liar {
  record Request(String line, Map<String, String> headers, String body) {}

  private static final Queue<Socket> HELD = new ConcurrentLinkedQueue<>();

  final List<Request> requests = Collections.synchronizedList(new ArrayList<>());
  final Queue<String> texts = new ArrayDeque<>();
  final String url;
  /** Before each answer. */
  volatile long delayMs;
  /** Requests at once, at most. */
  final AtomicInteger most = new AtomicInteger();
  /** Connections that the client closed. */
  final AtomicInteger ended = new AtomicInteger();
  private final AtomicInteger now = new AtomicInteger();
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

  List<String> paths() {
    return requests.stream().map(one -> one.line.split(" ")[1]).toList();
  }

  /** Of all requests; null: it was not there. */
  List<String> headers(String name) {
    return requests.stream().map(one -> one.headers.get(name)).toList();
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
        most.accumulateAndGet(now.incrementAndGet(), Math::max);
        requests.add(request);
        String text;
        synchronized (texts) {
          text = texts.poll();
        }
        Thread.sleep("STALL".equals(text) ? 20_000 : delayMs);
        now.decrementAndGet();
        if (text == null || text.isEmpty()) return;
        boolean cut = text.endsWith("CUT");
        socket.getOutputStream().write((cut ? text.substring(0, text.length() - 3) : text).getBytes(StandardCharsets.UTF_8));
        if (cut) return;
      }
      ended.incrementAndGet();
    } catch (IOException | InterruptedException error) {
      ended.incrementAndGet();
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

  /** The address of a server that nobody runs: its port is taken for as long as the tests run, and nobody listens there. */
  static String nobody() {
    try {
      Socket held = new Socket();
      held.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      HELD.add(held);
      return "http://127.0.0.1:" + held.getLocalPort();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
