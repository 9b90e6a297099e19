package seendb;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Takes events one by one and sends them in batches, as NDJSON. `add` waits while a batch is on its way: whoever reads faster than the
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

  private final Caller caller;
  private final Kind kind;
  private final Map<String, String> query;
  private final int batch;
  private final Duration patience;
  private final ByteArrayOutputStream lines = new ByteArrayOutputStream();
  private final List<String> users = new ArrayList<>();
  private final List<Recorded.Refusal> refusals = new ArrayList<>();
  private int sent;
  private long accepted;
  private long refused;

  Bulk(Caller caller, Kind kind, String collection, int batch, Duration patience) {
    this.caller = caller;
    this.kind = kind;
    this.query = collection == null ? Map.of() : Map.of("collection", collection);
    this.batch = batch;
    this.patience = patience;
  }

  /** One without a time gets the present, so that a second try counts once. */
  public void add(Event event) {
    int index = sent + users.size();
    byte[] line = Client.bytes(event.checked(index, System.currentTimeMillis()));
    if (event instanceof Exposure != (kind == Kind.EXPOSURES)) throw SeenDBException.refuse("/events/" + index, "this Bulk takes " + kind + " alone");
    if (users.size() >= batch || !users.isEmpty() && lines.size() + line.length > BYTES_MOST) flush();
    lines.writeBytes(line);
    lines.write('\n');
    users.add(event.user().toString());
  }

  /** Sends what has not been sent. */
  public void flush() {
    if (users.isEmpty()) return;
    Caller.Call call = new Caller.Call("bulk", "POST", "/" + kind.name().toLowerCase(Locale.ROOT), query, lines.toByteArray(), "application/x-ndjson", null, patience, false);
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
