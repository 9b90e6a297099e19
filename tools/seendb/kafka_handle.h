// seendb/kafka_handle.h: a producer or a consumer of librdkafka, by settings and --property flags.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "seendb/status.h"

namespace seendb::tool {

/// Owns the handle. Threads: one; librdkafka has its own.
class KafkaHandle {
 public:
  using Settings = std::vector<std::pair<std::string, std::string>>;
  /// Told what became of each message of a producer; `self` is what Open was given.
  using OnDelivered = void (*)(rd_kafka_t*, const rd_kafka_message_t* message, void* self);

  /// Longest wait for a broker's answer.
  static constexpr int kReachMs = 8'000;

  /// `settings`, and on top of them `properties` ("NAME=VALUE"). kInvalidArgument: one of them.
  static Result<std::unique_ptr<KafkaHandle>> Open(rd_kafka_type_t type, Settings settings,
                                                   const std::vector<std::string>& properties,
                                                   OnDelivered on_delivered = nullptr,
                                                   void* self = nullptr);
  ~KafkaHandle();
  KafkaHandle(const KafkaHandle&) = delete;
  KafkaHandle& operator=(const KafkaHandle&) = delete;

  rd_kafka_t* get() const { return handle_; }
  /// Calls what is due.
  void Poll(int wait_ms);
  /// kUnavailable: a call to `brokers` failed; says why, as far as a connection told.
  Status Unreachable(const std::string& brokers, rd_kafka_resp_err_t error);

 private:
  KafkaHandle() = default;
  static void Failed(rd_kafka_t*, int, const char* reason, void* self);
  static void Delivered(rd_kafka_t* handle, const rd_kafka_message_t* message, void* self);

  rd_kafka_t* handle_ = nullptr;
  OnDelivered on_delivered_ = nullptr;
  void* self_ = nullptr;
  std::string trouble_;
};

}  // namespace seendb::tool
