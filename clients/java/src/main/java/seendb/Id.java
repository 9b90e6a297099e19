package seendb;

import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A user or an item: text of 1-255 bytes of UTF-8, or an integer of 64 bits without a sign. Text that is a canonical decimal of 64
 * bits and that integer are one id, and equal.
 */
public final class Id {
  private static final int BYTES_MOST = 255;

  private final String text;
  private final long number;
  private final boolean isNumber;

  private Id(String text, long number, boolean isNumber) {
    this.text = text;
    this.number = number;
    this.isNumber = isNumber;
  }

  public static Id of(String text) {
    return new Id(text, 0, false);
  }

  /** The 64 bits are read without a sign. */
  public static Id of(long number) {
    return new Id(Long.toUnsignedString(number), number, true);
  }

  public static List<Id> of(String... texts) {
    return Stream.of(texts).map(Id::of).toList();
  }

  public static List<Id> of(long... numbers) {
    return LongStream.of(numbers).mapToObj(Id::of).toList();
  }

  boolean isNumber() {
    return isNumber;
  }

  long number() {
    return number;
  }

  Id check(String field) {
    if (isNumber) return this;
    int size = text.getBytes(StandardCharsets.UTF_8).length;
    if (size < 1 || size > BYTES_MOST) {
      throw SeenDBException.refuse(field, "an id has 1 to " + BYTES_MOST + " bytes of UTF-8, not " + size);
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) throw SeenDBException.refuse(field, "an id is not UTF-8");
    return this;
  }

  static List<Id> check(List<Id> ids, String field) {
    for (int i = 0; i < ids.size(); ++i) ids.get(i).check(field + "/" + i);
    return ids;
  }

  /** As JSON has it: integers as text, which is the same id, so that nothing in between rounds them. */
  @JsonValue
  @Override
  public String toString() {
    return text;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Id id && text.equals(id.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

}
