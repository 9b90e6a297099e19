// server/http/trace_context.h: the trace that a request belongs to, as W3C Trace Context (level 1)
// has it in the headers traceparent and tracestate: read, and made anew for a request that this
// one causes.
//
//   traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace seendb::http {

/// A longer tracestate is not passed on. The specification asks for at least so many characters.
inline constexpr size_t kMaxTraceStateBytes = 512;

/// See the head of this file. All of it is empty, unless `trace_id` is there.
struct TraceContext {
  std::string trace_id;   ///< 32 hexadecimal digits, in lower case; empty: the request has no trace
  std::string parent_id;  ///< 16: the caller's operation
  std::string span_id;    ///< 16: this request, the parent of those that it causes; random
  std::string state;      ///< tracestate as sent, several joined by ","; empty: none
  bool sampled = false;   ///< the caller may have recorded it

  /// Takes the value of traceparent, and draws `span_id`. False, and nothing is changed: it is
  /// malformed. A later version is read as far as
  /// it looks like 00, as the specification demands.
  bool Parse(std::string_view traceparent);
  /// The header of a request that this one causes. Precondition: `trace_id` is there.
  std::string ToHeader() const;
  /// Adds a tracestate; what can't be passed on drops all of it.
  void AddState(std::string_view tracestate);
  /// Strings keep their memory.
  void Clear();

 private:
  bool state_dropped_ = false;
};

}  // namespace seendb::http
