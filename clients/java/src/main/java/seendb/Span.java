package seendb;

import com.fasterxml.jackson.databind.util.StdConverter;
import java.time.Duration;

/** A span as the server takes it. */
final class Span extends StdConverter<Duration, String> {
  @Override
  public String convert(Duration span) {
    return span.toMillis() + "ms";
  }
}
