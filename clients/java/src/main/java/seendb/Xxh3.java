package seendb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;

/** XXH3-64 (xxHash specification 0.1.1) of up to 256 bytes, with a secret of 192 bytes or with a seed. */
final class Xxh3 {
  static final byte[] SECRET = HexFormat.of().parseHex(
      "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
          + "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
          + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
          + "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");
  private static final long P32_1 = 0x9E3779B1L;
  private static final long P32_2 = 0x85EBCA77L;
  private static final long P32_3 = 0xC2B2AE3DL;
  private static final long P64_1 = 0x9E3779B185EBCA87L;
  private static final long P64_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P64_3 = 0x165667B19E3779F9L;
  private static final long P64_4 = 0x85EBCA77C2B2AE63L;
  private static final long P64_5 = 0x27D4EB2F165667C5L;
  private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private Xxh3() {}

  static long word(byte[] data, int at) {
    return (long) LONGS.get(data, at);
  }

  private static long half(byte[] data, int at) {
    return Integer.toUnsignedLong((int) INTS.get(data, at));
  }

  /** Both halves of the product of 128 bits. */
  private static long fold(long first, long second) {
    long high = Math.multiplyHigh(first, second) + (first >> 63 & second) + (second >> 63 & first);
    return high ^ first * second;
  }

  private static long avalanche(long value) {
    long mixed = (value ^ value >>> 37) * 0x165667919E3779F9L;
    return mixed ^ mixed >>> 32;
  }

  private static long mixed(byte[] data, int at, byte[] secret, int place, long seed) {
    return fold(word(data, at) ^ word(secret, place) + seed, word(data, at + 8) ^ word(secret, place + 8) - seed);
  }

  /** The hash of 9 to 16 bytes, of which `low` and `high` are the first and the last eight. */
  static long ofWords(int size, long low, long high, byte[] secret, long seed) {
    long first = low ^ (word(secret, 24) ^ word(secret, 32)) + seed;
    long last = high ^ (word(secret, 40) ^ word(secret, 48)) - seed;
    return avalanche(size + Long.reverseBytes(first) + last + fold(first, last));
  }

  static long of(byte[] data, byte[] secret, long seed) {
    int size = data.length;
    if (size > 240) return ofLong(data, secret, seed);
    if (size > 128) return ofMiddle(data, secret, seed);
    if (size > 16) {
      long total = size * P64_1;
      for (int i = (size - 1) / 32; i >= 0; --i) {
        total += mixed(data, 16 * i, secret, 32 * i, seed);
        total += mixed(data, size - 16 * (i + 1), secret, 32 * i + 16, seed);
      }
      return avalanche(total);
    }
    if (size > 8) return ofWords(size, word(data, 0), word(data, size - 8), secret, seed);
    if (size >= 4) return ofFour(data, secret, seed);
    long value = seed ^ word(secret, 56) ^ word(secret, 64);
    if (size > 0) {
      long joined = (data[0] & 255L) << 16 | (data[size >> 1] & 255L) << 24 | data[size - 1] & 255L | (long) size << 8;
      value = joined ^ (half(secret, 0) ^ half(secret, 4)) + seed;
    }
    value = (value ^ value >>> 33) * P64_2;
    value = (value ^ value >>> 29) * P64_3;
    return value ^ value >>> 32;
  }

  private static long ofFour(byte[] data, byte[] secret, long seed) {
    int size = data.length;
    long turned = seed ^ Integer.toUnsignedLong(Integer.reverseBytes((int) seed)) << 32;
    long value = half(data, size - 4) + (half(data, 0) << 32) ^ (word(secret, 8) ^ word(secret, 16)) - turned;
    value = (value ^ Long.rotateLeft(value, 49) ^ Long.rotateLeft(value, 24)) * 0x9FB21C651E98DF25L;
    value = (value ^ (value >>> 35) + size) * 0x9FB21C651E98DF25L;
    return value ^ value >>> 28;
  }

  private static long ofMiddle(byte[] data, byte[] secret, long seed) {
    int size = data.length;
    long total = size * P64_1;
    for (int i = 0; i < 8; ++i) total += mixed(data, 16 * i, secret, 16 * i, seed);
    total = avalanche(total);
    for (int i = 8; i < size / 16; ++i) total += mixed(data, 16 * i, secret, 16 * (i - 8) + 3, seed);
    return avalanche(total + mixed(data, size - 16, secret, 136 - 17, seed));
  }

  /** Of less than a block of 1,024 bytes. */
  private static long ofLong(byte[] data, byte[] secret, long seed) {
    byte[] own = Arrays.copyOf(secret, secret.length);
    for (int at = 0; at < own.length; at += 16) {
      LONGS.set(own, at, word(secret, at) + seed);
      LONGS.set(own, at + 8, word(secret, at + 8) - seed);
    }
    long[] totals = {P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1};
    for (int i = 0; i < (data.length - 1) / 64; ++i) addStripe(totals, data, 64 * i, own, 8 * i);
    addStripe(totals, data, data.length - 64, own, own.length - 64 - 7);
    long total = data.length * P64_1;
    for (int i = 0; i < 4; ++i) total += fold(totals[2 * i] ^ word(own, 11 + 16 * i), totals[2 * i + 1] ^ word(own, 19 + 16 * i));
    return avalanche(total);
  }

  private static void addStripe(long[] totals, byte[] data, int at, byte[] secret, int place) {
    for (int i = 0; i < totals.length; ++i) {
      long value = word(data, at + 8 * i);
      long keyed = value ^ word(secret, place + 8 * i);
      totals[i ^ 1] += value;
      totals[i] += (keyed & 0xFFFFFFFFL) * (keyed >>> 32);
    }
  }
}
