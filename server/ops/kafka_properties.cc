#include "ops/kafka_properties.h"

#include <algorithm>
#include <array>

#include "base/json_pointer.h"
#include "base/suggest.h"

namespace seendb::ops {
namespace {

/// What is said of a property that is not taken.
struct RefusedProperty {
  std::string_view name;
  std::string_view why;
};

constexpr std::string_view kOwn = "is the server's own to set";
constexpr std::string_view kCode = "is not taken: it would run code";
constexpr std::string_view kCommand = "is not taken: librdkafka runs it as a command of the shell";
constexpr std::string_view kWrites = "is not taken: it would write files";

/// Others are not taken either; of these it is said why.
constexpr std::array<RefusedProperty, 21> kRefused = {{{"bootstrap.servers", kOwn},
                                                       {"metadata.broker.list", kOwn},
                                                       {"group.id", kOwn},
                                                       {"enable.auto.commit", kOwn},
                                                       {"enable.auto.offset.store", kOwn},
                                                       {"auto.commit.enable", kOwn},
                                                       {"auto.offset.reset", kOwn},
                                                       {"enable.partition.eof", kOwn},
                                                       {"queued.max.messages.kbytes", kOwn},
                                                       {"group.instance.id", kOwn},
                                                       {"partition.assignment.strategy", kOwn},
                                                       {"acks", kOwn},
                                                       {"request.required.acks", kOwn},
                                                       {"enable.idempotence", kOwn},
                                                       {"plugin.library.paths", kCode},
                                                       {"ssl.engine.location", kCode},
                                                       {"ssl.engine.id", kCode},
                                                       {"ssl.providers", kCode},
                                                       {"sasl.kerberos.kinit.cmd", kCommand},
                                                       {"sasl.kerberos.keytab", kCommand},
                                                       {"offset.store.path", kWrites}}};

/// In the order of names.
constexpr std::array<std::string_view, 70> kAllowed = {"api.version.request",
                                                       "api.version.request.timeout.ms",
                                                       "batch.num.messages",
                                                       "batch.size",
                                                       "broker.address.family",
                                                       "broker.address.ttl",
                                                       "check.crcs",
                                                       "client.id",
                                                       "client.rack",
                                                       "compression.codec",
                                                       "compression.level",
                                                       "compression.type",
                                                       "connections.max.idle.ms",
                                                       "debug",
                                                       "delivery.timeout.ms",
                                                       "enable.ssl.certificate.verification",
                                                       "fetch.error.backoff.ms",
                                                       "fetch.max.bytes",
                                                       "fetch.message.max.bytes",
                                                       "fetch.min.bytes",
                                                       "fetch.wait.max.ms",
                                                       "heartbeat.interval.ms",
                                                       "isolation.level",
                                                       "linger.ms",
                                                       "log.connection.close",
                                                       "max.in.flight",
                                                       "max.partition.fetch.bytes",
                                                       "message.max.bytes",
                                                       "message.timeout.ms",
                                                       "metadata.max.age.ms",
                                                       "queue.buffering.max.kbytes",
                                                       "queue.buffering.max.messages",
                                                       "queue.buffering.max.ms",
                                                       "queued.min.messages",
                                                       "receive.message.max.bytes",
                                                       "reconnect.backoff.max.ms",
                                                       "reconnect.backoff.ms",
                                                       "request.timeout.ms",
                                                       "retries",
                                                       "retry.backoff.ms",
                                                       "sasl.mechanism",
                                                       "sasl.mechanisms",
                                                       "sasl.password",
                                                       "sasl.username",
                                                       "security.protocol",
                                                       "session.timeout.ms",
                                                       "socket.connection.setup.timeout.ms",
                                                       "socket.keepalive.enable",
                                                       "socket.max.fails",
                                                       "socket.nagle.disable",
                                                       "socket.receive.buffer.bytes",
                                                       "socket.send.buffer.bytes",
                                                       "socket.timeout.ms",
                                                       "ssl.ca.location",
                                                       "ssl.ca.pem",
                                                       "ssl.certificate.location",
                                                       "ssl.certificate.pem",
                                                       "ssl.cipher.suites",
                                                       "ssl.crl.location",
                                                       "ssl.curves.list",
                                                       "ssl.endpoint.identification.algorithm",
                                                       "ssl.key.location",
                                                       "ssl.key.password",
                                                       "ssl.key.pem",
                                                       "ssl.keystore.location",
                                                       "ssl.keystore.password",
                                                       "ssl.sigalgs.list",
                                                       "topic.metadata.refresh.fast.interval.ms",
                                                       "topic.metadata.refresh.interval.ms",
                                                       "topic.metadata.refresh.sparse"};

Status CheckProperty(const std::string& name) {
  if (std::ranges::binary_search(kAllowed, std::string_view(name))) return {};
  const auto* const found = std::ranges::find(kRefused, name, &RefusedProperty::name);
  if (found != kRefused.end()) return Status::InvalidArgument(std::string(found->why));
  const std::string nearest(Nearest(name, kAllowed));
  return Status::InvalidArgument(
      "is not among the properties that are taken (server/doc/kafka.md)" +
      (nearest.empty() ? "" : "; did you mean `" + nearest + "`?"));
}

}  // namespace

std::span<const std::string_view> AllowedProperties() { return kAllowed; }

Setter Properties(std::map<std::string, std::string>* to) {
  return [=](const Json& value) {
    if (!value.is_object()) return Status::InvalidArgument("must be an object");
    for (const auto& [name, text] : value.items()) {
      if (Status taken = CheckProperty(name); !taken.ok()) {
        return Status::InvalidArgument(std::string(taken.message()), PointerTo(name));
      }
      if (!text.is_string()) return Status::InvalidArgument("must be a string", PointerTo(name));
      (*to)[name] = text.get<std::string>();
    }
    return Status::Ok();
  };
}

}  // namespace seendb::ops
