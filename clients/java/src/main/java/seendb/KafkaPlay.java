package seendb;

import java.nio.charset.StandardCharsets;

/**
 * A play as a record of Kafka for a topic that SeenDB consumes with its settings as they are but for `"at": "at"` (and, for what the
 * player says, `"progress_s": "progress_s"` and so on). A producer of Kafka partitions by `key` as `partition` says, by itself:
 *
 * <pre>KafkaPlay one = KafkaPlay.of(play);
 * producer.send(new ProducerRecord&lt;&gt;("plays", one.key(), one.value()));</pre>
 */
public record KafkaPlay(byte[] key, byte[] value) {
  /** One without a time gets the present. */
  public static KafkaPlay of(Play play) {
    Play whole = play.checked(0, System.currentTimeMillis());
    return new KafkaPlay(whole.user().toString().getBytes(StandardCharsets.UTF_8), Client.bytes(whole));
  }

  /** Among so many. */
  public int partition(int partitions) {
    return (Routing.murmur2(key) & 0x7fffffff) % partitions;
  }
}
