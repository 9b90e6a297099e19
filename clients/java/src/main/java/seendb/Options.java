package seendb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;

/** Of a client; `new Options()` is good. */
public final class Options {
  /** A bearer token; or a file whose first line it is, read again when it changes. */
  public String token;
  public Path tokenFile;
  /** Whom to trust, and the caller's own certificate; null: the system's. */
  public SSLContext tls;
  /** Of a whole call, second tries included; told to the server. */
  public Duration timeout = Duration.ofSeconds(1);
  /** Second tries of what may be repeated; one for ten calls at most. */
  public int retries = 1;
  /** Calls at once, for each server named; more of them wait. */
  public int connections = 16;
  /** The URLs are nodes of one cluster: a question goes to the node that has its user. */
  public boolean cluster;
  /**
   * A read that was not answered for so long is asked at another server too, and the first good answer counts; of second tries, which
   * have their budget. null: never.
   */
  public Duration hedge;
  /** "host:port" of a name server that is asked in place of the system's for srv+http://name. */
  public String dns;
  /** Asked in place of name servers, in a thread of its own. */
  public Resolver resolver;
  /** Told after each call. */
  public OnCall onCall = (name, took, status, tries) -> {};

  /** A server of a name (RFC 2782). */
  public record SrvRecord(int priority, int weight, int port, String target) {}

  /** Gives the records of a name. */
  public interface Resolver {
    List<SrvRecord> resolve(String name) throws Exception;
  }

  /** `status` 0: no answer. */
  public interface OnCall {
    void called(String name, Duration took, int status, int tries);
  }
}
