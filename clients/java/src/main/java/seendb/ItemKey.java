package seendb;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Makes fingerprints out of ids: the answer of GET /admin/item-hash-key. */
final class ItemKey {
  private static final long SEED = 0x5EE0DB015EE0DB01L;
  private static final String NUMBER_MOST = "18446744073709551615";

  final int version;
  final long id;
  private final byte[] secret;
  private final long seed;

  ItemKey(JsonNode told) {
    try {
      version = told.path("version").asInt();
      id = Long.parseUnsignedLong(told.path("id").asText(), 16);
      byte[] given = HexFormat.of().parseHex(told.path("secret").asText());
      if (version < 1 || version > 2 || given.length != (version == 1 ? 0 : Xxh3.SECRET.length)) throw new IllegalArgumentException();
      secret = version == 1 ? Xxh3.SECRET : given;
      seed = version == 1 ? SEED : 0;
    } catch (IllegalArgumentException error) {
      throw SeenDBException.refuse("", "no key of item hashes that this client knows");
    }
  }

  /** The fingerprint of an id. */
  long of(Id id) {
    if (id.isNumber()) return ofNumber(id.number());
    String text = id.toString();
    return isNumber(text) ? ofNumber(Long.parseUnsignedLong(text)) : Xxh3.of(text.getBytes(StandardCharsets.UTF_8), secret, seed) >>> 16;
  }

  /** The hash of the byte 0xFF and the number. */
  private long ofNumber(long number) {
    return Xxh3.ofWords(9, 0xFF | number << 8, number, secret, seed) >>> 16;
  }

  /** Whether a text is the canonical decimal of 64 bits. */
  private static boolean isNumber(String text) {
    int size = text.length();
    if (size > NUMBER_MOST.length() || text.charAt(0) == '0' && size > 1) return false;
    for (int i = 0; i < size; ++i) if (text.charAt(i) < '0' || text.charAt(i) > '9') return false;
    return size < NUMBER_MOST.length() || text.compareTo(NUMBER_MOST) <= 0;
  }
}
