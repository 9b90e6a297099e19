package seendb;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** A user's filter in one collection (engine/doc/filter-dump.md). It never changes. */
final class Dump {
  private static final int RING = 1;
  private static final int IMPRESSIONS = 2;
  private static final int EXPOSURES = 3;
  private static final int RECORD = 4;
  private static final int MARKS = 5;
  private static final int BUCKET = 6;
  private static final int ENTRY_BYTES = 32;
  private static final int FINGERPRINT_BYTES = 6;
  private static final int LAYERS_MOST = 32;
  private static final int LANES = 8;
  private static final int[] SALTS = {0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B, 0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19};

  final boolean degraded;
  final List<String> missing;
  final long keyId;
  final int hashVersion;
  final String etag;
  private final Map<Long, Part> parts = new HashMap<>();
  private final List<Part> shown = new ArrayList<>();
  private final List<Part> played = new ArrayList<>();
  private final List<Part> record = new ArrayList<>();
  private Map<String, Long> marks = Map.of();

  /** What is marked, and whether a time that is not known would tell. */
  record Marked(boolean marked, boolean undated) {}

  private record Entry(int kind, boolean sent, int size, long hash) {}

  /** A layer of blocks: eight words each. */
  private record Blocks(long count, long[] words) {
    boolean has(long hash) {
      int at = (int) ((hash >>> 32) * count >>> 32) * LANES;
      for (int lane = 0; lane < LANES; ++lane) {
        if ((words[at + lane] >>> ((int) hash * SALTS[lane] >>> 26) & 1) == 0) return false;
      }
      return true;
    }
  }

  private record Part(int kind, List<long[]> lists, List<Blocks> layers, Map<String, Long> marks) {
    boolean has(long item) {
      for (long[] list : lists) if (Arrays.binarySearch(list, item) >= 0) return true;
      long hash = item * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 32;
      for (Blocks one : layers) if (one.has(hash)) return true;
      return false;
    }
  }

  static SeenDBException damaged(String why) {
    return SeenDBException.none("protocol", "the dump of a filter " + why);
  }

  /** `former` has the parts that this one leaves out; null: there is none. */
  static Dump read(byte[] body, Dump former) {
    try {
      return new Dump(ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN), former);
    } catch (BufferUnderflowException error) {
      throw damaged("is cut off");
    }
  }

  private Dump(ByteBuffer in, Dump former) {
    boolean known = text(in, 6).equals("SeenFD") && in.get() == 1;
    int flags = in.get();
    if (!known || flags < 0 || flags > 1) throw damaged("is not of version 1");
    degraded = flags == 1;
    in.position(in.position() + Math.min(24, in.remaining())); // times
    keyId = in.getLong();
    StringBuilder name = new StringBuilder("\"").append(HexFormat.of().toHexDigits(in.getLong()));
    hashVersion = in.getShort();
    int count = Short.toUnsignedInt(in.getShort());
    int labels = Short.toUnsignedInt(in.getShort());
    List<String> told = new ArrayList<>();
    for (int i = 0; i < labels; ++i) told.add(text(in, Byte.toUnsignedInt(in.get())));
    missing = List.copyOf(told);
    if (in.remaining() < ENTRY_BYTES * count) throw damaged("is cut off");
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < count; ++i) entries.add(entry(in));
    for (Entry one : entries) {
      Part part = one.sent ? part(one.kind, bytes(in, one.size)) : former == null ? null : former.parts.get(one.hash);
      if (part == null || part.kind != one.kind) throw damaged("leaves out a part that was never sent");
      name.append('-').append(HexFormat.of().toHexDigits(one.hash));
      parts.put(one.hash, part);
      add(part);
    }
    if (in.hasRemaining()) throw damaged("is longer than it says");
    etag = name.append('"').toString();
  }

  private void add(Part part) {
    switch (part.kind) {
      case IMPRESSIONS, EXPOSURES -> shown.add(part);
      case RECORD -> record.add(part);
      case MARKS -> marks = part.marks;
      default -> played.add(part);
    }
  }

  /** The next bytes, of their own. */
  private static ByteBuffer bytes(ByteBuffer in, int size) {
    if (size < 0 || size > in.remaining()) throw damaged("is cut off");
    ByteBuffer taken = in.slice(in.position(), size).order(ByteOrder.LITTLE_ENDIAN);
    in.position(in.position() + size);
    return taken;
  }

  private static String text(ByteBuffer in, int size) {
    return StandardCharsets.UTF_8.decode(bytes(in, size)).toString();
  }

  private static Entry entry(ByteBuffer in) {
    int kind = in.get();
    int sent = in.get();
    in.getShort();
    int size = in.getInt();
    long hash = in.getLong();
    in.getLong(); // the bucket
    in.getLong();
    if (kind < RING || kind > BUCKET || sent < 0 || sent > 1 || sent == 0 && size != 0) throw damaged("has a part that this client does not know");
    return new Entry(kind, sent == 1, size, hash);
  }

  private static Part part(int kind, ByteBuffer in) {
    Part part = new Part(kind, new ArrayList<>(), new ArrayList<>(), new HashMap<>());
    int count = in.getInt();
    if (kind == MARKS) {
      for (int i = 0; i != count; ++i) {
        int size = Byte.toUnsignedInt(in.get());
        long until = in.getLong();
        part.marks.put(text(in, size), until);
      }
    } else {
      int layers = kind == BUCKET ? in.getInt() : 0;
      if (layers < 0 || layers > LAYERS_MOST) throw damaged("has too many layers");
      int[] sizes = new int[2 * layers];
      for (int i = 0; i < sizes.length; ++i) sizes[i] = in.getInt();
      part.lists.add(list(in, count));
      for (int i = 0; i < sizes.length; i += 2) {
        if (sizes[i] == 0) part.lists.add(list(in, sizes[i + 1]));
        else part.layers.add(blocks(in, sizes[i]));
      }
    }
    if (in.hasRemaining()) throw damaged("has a part that is longer than it says");
    return part;
  }

  private static long[] list(ByteBuffer in, int count) {
    if (count < 0 || count > in.remaining() / FINGERPRINT_BYTES) throw damaged("is cut off");
    long[] items = new long[count];
    for (int i = 0; i < count; ++i) {
      items[i] = Integer.toUnsignedLong(in.getInt()) | (long) Short.toUnsignedInt(in.getShort()) << 32;
      if (i > 0 && items[i - 1] >= items[i]) throw damaged("has a list out of order");
    }
    return items;
  }

  private static Blocks blocks(ByteBuffer in, int count) {
    if (count < 0 || count > in.remaining() / (8 * LANES)) throw damaged("is cut off");
    long[] words = new long[LANES * count];
    for (int i = 0; i < words.length; ++i) words[i] = in.getLong();
    return new Blocks(count, words);
  }

  private static boolean anyHas(List<Part> parts, long item) {
    for (Part part : parts) if (part.has(item)) return true;
    return false;
  }

  /** Whether a fingerprint was served, exposed or played. */
  boolean seen(long item) {
    return anyHas(shown, item) || anyHas(played, item) && !anyHas(record, item);
  }

  /** Whether groups are marked far enough. */
  Marked marked(Groups groups) {
    boolean undated = false;
    for (String group : groups.of()) {
      Long until = marks.get(group);
      if (until == null) continue;
      if (until == Long.MAX_VALUE || groups.at() != null && until >= groups.at()) return new Marked(true, false);
      undated = groups.at() == null;
    }
    return new Marked(false, undated);
  }
}
