package seendb;

import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow;

/** A request's body that knows whether the request was begun: its head has the length, so before that is asked for nothing was sent. */
final class Body implements HttpRequest.BodyPublisher {
  private final HttpRequest.BodyPublisher bytes;
  private boolean begun;
  private boolean givenUp;

  /** `bytes` null: none. */
  Body(byte[] bytes) {
    this.bytes = bytes == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofByteArray(bytes);
  }

  /** Whether nothing was sent; nothing will be then. */
  synchronized boolean giveUp() {
    givenUp = !begun;
    return givenUp;
  }

  @Override
  public synchronized long contentLength() {
    if (givenUp) throw new IllegalStateException("the request was given up");
    begun = true;
    return bytes.contentLength();
  }

  @Override
  public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
    bytes.subscribe(subscriber);
  }
}
