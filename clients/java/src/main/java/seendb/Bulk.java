package seendb;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Takes events one by one and sends them in batches: in binary as long as all are Plays that say no more than user, item and at, from
 * the first other one on as NDJSON. `add` waits while a batch is on its way: whoever reads faster than the
 * server writes is slowed down, and no more than a batch is in memory. A batch that is refused for now (429, 503) or whose connection
 * breaks is sent again until the patience is over; then the call throws, and the batch is kept: `flush` sends it again. For one
 * thread; more of them take a Bulk each.
 */
public final class Bulk {
  /** Says what a Bulk takes: a Play each, of which the server makes plays or impressions, or an Exposure. */
  public enum Kind {
    PLAYS,
    IMPRESSIONS,
    EXPOSURES
  }

  static final int BATCH = 2_000;
  static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int BYTES_MOST = 1 << 20;
  private static final int REFUSALS_MOST = 100;

  /** The forms of a body: rows of numbers, rows of texts, lines of JSON. Each takes what those before it take. */
  private static final int NUMBERS = 0;

  private static final int TEXTS = 1;
  private static final int LINES = 2;

  private final Caller caller;
  private final Kind kind;
  private final String collection;
  private final int batch;
  private final Duration patience;
  private final ByteArrayOutputStream lines = new ByteArrayOutputStream();
  private final List<String> users = new ArrayList<>();
  private final List<Recorded.Refusal> refusals = new ArrayList<>();
  private int form;
  private int sent;
  private long accepted;
  private long refused;

  Bulk(Caller caller, Kind kind, String collection, int batch, Duration patience) {
    this.caller = caller;
    this.kind = kind;
    this.collection = collection;
    this.form = kind == Kind.PLAYS ? NUMBERS : LINES;
    this.batch = batch;
    this.patience = patience;
  }

  /** Sends NDJSON alone. */
  public Bulk asLines() {
    flush();
    form = LINES;
    return this;
  }

  /** The first form that takes a checked event; a time of 0 is the server's present. */
  private static int formOf(Event event) {
    if (!(event instanceof Play play) || !new Play(play.user(), play.item(), play.at(), null, null, null, null, null, null).equals(play) || play.at() <= 0) return LINES;
    return play.user().isNumber() && play.item().isNumber() ? NUMBERS : TEXTS;
  }

  private static byte[] written(Event event, int form) {
    if (form == LINES) return Client.bytes(event);
    Play play = (Play) event;
    if (form == NUMBERS) return ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN).putLong(play.user().number()).putLong(play.item().number()).putLong(play.at()).array();
    byte[] user = play.user().toString().getBytes(StandardCharsets.UTF_8);
    byte[] item = play.item().toString().getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(16 + user.length + item.length).order(ByteOrder.LITTLE_ENDIAN).putInt(user.length).put(user).putInt(item.length).put(item).putLong(play.at()).array();
  }

  /** One without a time gets the present, so that a second try counts once. */
  public void add(Event event) {
    int index = sent + users.size();
    Event told = event.checked(index, System.currentTimeMillis());
    int needed = Math.max(form, formOf(told));
    byte[] line = written(told, needed);
    if (event instanceof Exposure != (kind == Kind.EXPOSURES)) throw SeenDBException.refuse("/events/" + index, "this Bulk takes " + kind + " alone");
    if (needed > form || users.size() >= batch || !users.isEmpty() && lines.size() + line.length > BYTES_MOST) flush();
    form = needed;
    lines.writeBytes(line);
    if (form == LINES) lines.write('\n');
    users.add(event.user().toString());
  }

  /** Sends what has not been sent. */
  public void flush() {
    if (users.isEmpty()) return;
    Map<String, String> query = new LinkedHashMap<>();
    if (collection != null) query.put("collection", collection);
    if (form != LINES) query.putAll(Map.of("ids", form == NUMBERS ? "u64" : "string", "count", String.valueOf(users.size())));
    String type = form == LINES ? "application/x-ndjson" : "application/octet-stream";
    Caller.Call call = new Caller.Call("bulk", "POST", "/" + kind.name().toLowerCase(Locale.ROOT), query, lines.toByteArray(), type, null, patience, false);
    HttpResponse<byte[]> answer = caller.ask(call.patiently());
    answer.headers().firstValue("SeenDB-Position").ifPresent(position -> caller.positions.note(users, position));
    Recorded recorded = Client.recordedOf(answer);
    accepted += recorded.accepted();
    refused += recorded.refused();
    recorded.refusals().stream().limit(REFUSALS_MOST - refusals.size())
        .forEach(one -> refusals.add(new Recorded.Refusal(sent + one.index(), one.code(), one.message(), one.field())));
    sent += users.size();
    lines.reset();
    users.clear();
  }

  public long accepted() {
    return accepted;
  }

  public long refused() {
    return refused;
  }

  /** At most 100; `index`: the how many-th event that was added. */
  public List<Recorded.Refusal> refusals() {
    return Collections.unmodifiableList(refusals);
  }
}
