// server/admission/ticket.h: what the admission layer is told of a request, and what it says.
//
// HTTP, gRPC, RESP and streams of lines make a Ticket of a request each in its own way, and
// translate the Verdict into their own words. The layer has no clock: each instant is an argument.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seendb::admission {

using Time = std::chrono::steady_clock::time_point;
using Duration = std::chrono::nanoseconds;

/// How soon a request is given up under load.
enum class Priority : uint8_t { kHigh, kNormal, kLow };
/// How many there are, and their names: "high", "normal", "low".
inline constexpr std::array<std::string_view, 3> kPriorityNames = {"high", "normal", "low"};
inline constexpr size_t kPriorities = kPriorityNames.size();

/// What kind of work a request is. Of a route that was not seen yet, its class says the cost.
enum class Class : uint8_t {
  kProbe,   ///< watches the process: never refused, never queued
  kRead,    ///< answers questions
  kWrite,   ///< records what users did
  kAdmin,   ///< changes or shows the whole database
  kStream,  ///< one piece of a stream: never refused, it waits, and its sender with it
};
/// How many there are.
inline constexpr size_t kClasses = 5;

/// Why a request was refused. The first is no refusal.
enum class Reason : uint8_t {
  kNone,
  kOverloaded,  ///< too much work waits before it
  kShare,       ///< its tenant has its share of the work that waits
  kByHand,      ///< its priority is refused by POST /admin/degrade
  kMemory,      ///< its tenant holds too many bytes
  kTimeout,     ///< it could not be answered within its timeout
  kStale,       ///< it waited too long already for anybody to wait for it still
  // What is the client's fault (429):
  kRate,         ///< its tenant asked too often
  kRateOfBytes,  ///< sent too many bytes
  kRateOfWork,   ///< caused too much work
};
/// How many there are, and their names in metrics.
inline constexpr std::array<std::string_view, 10> kReasonNames = {
    "none",    "overloaded", "share", "by_hand",       "memory",
    "timeout", "stale",      "rate",  "rate_of_bytes", "rate_of_work"};
inline constexpr size_t kReasons = kReasonNames.size();

/// Where a request was refused.
enum class Place : uint8_t { kHead, kBody, kQueue, kDoor };
/// How many there are, and their names in metrics.
inline constexpr std::array<std::string_view, 4> kPlaceNames = {"head", "body", "queue", "door"};
inline constexpr size_t kPlaces = kPlaceNames.size();

/// The answer of the layer.
struct Verdict {
  Reason reason = Reason::kNone;
  Duration retry_after{
      0};  ///< of a refusal: how long the client is asked to wait; spread by chance

  bool admitted() const { return reason == Reason::kNone; }
};

class Tenant;

/// Most routes that costs are learned of; see CostModel.
inline constexpr size_t kMaxRoutes = 64;

/// A request.
struct Ticket {
  Class cls = Class::kRead;
  Priority priority = Priority::kNormal;
  bool retried = false;      ///< not the client's first try: one step lower in priority
  int route = -1;            ///< below kMaxRoutes; -1: unknown, its class alone says the cost
  uint64_t bytes = 0;        ///< of its body, as far as known
  uint64_t tenant_key = 0;   ///< whose it is, for shares; 0: nobody's, no share is kept
  Tenant* tenant = nullptr;  ///< its rate, its weight and its account; null: none, weight 1
  Time first_byte{};         ///< when it began to come: its timeout counts from here
  Duration timeout{0};       ///< after it nobody waits any more; 0: not known
};

}  // namespace seendb::admission
