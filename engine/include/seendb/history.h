// seendb/history.h: what a user watched, exactly: the list a person sees, and where a player
// resumes.
//
// A collection whose policy switches history on keeps, beside its filters, what was reported of
// each user and item: of each thing that a report can say (position, length, device, fields) the
// newest word. What a report does not say stays as it was said before. A later `at` wins whatever
// the order of arrival; of one time the larger number (finished above every position) and the text
// that is greater as bytes. A deletion ends all that was said up to its time. So any order and any
// repetition ends in the same state. What was recorded is read back at once.
//
//   seendb::PolicyPatch patch;
//   patch.history.enabled = true;  // no collection keeps history unless told
//   seendb::Status kept = engine->PutCollection("default", patch);
//   seendb::Watch watch{.progress_s = 95, .duration_s = 240, .device = "tv"};
//   seendb::Play play{.user = user, .item = item, .watch = &watch};
//   auto recorded = engine->RecordPlays({&play, 1});
//   seendb::HistoryPage page;
//   seendb::Status s = engine->ReadHistory({.user = user, .limit = 20}, &page);
//
// Threads: plain values; views must outlive the call they are passed to.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/id.h"

namespace seendb {

/// Watch::progress_s of an item watched to its end.
inline constexpr int32_t kFinished = -1;
/// Longest Watch::device and Watch::fields, in bytes.
inline constexpr size_t kMaxDeviceBytes = 64;
inline constexpr size_t kMaxFieldsBytes = 1024;
/// Most items of one look-up or deletion.
inline constexpr size_t kMaxHistoryItems = 1000;
/// Most entries of one page.
inline constexpr uint32_t kMaxHistoryLimit = 1000;

/// What a player says with a play. Kept where the collection's history is on, unless `ids_only`.
/// A member without a value, a duration of 0 and an empty text say nothing of it.
struct Watch {
  std::optional<int32_t> progress_s = {};  ///< seconds into the item, or kFinished
  std::optional<int32_t> duration_s = {};  ///< of the item
  std::string_view device = {};            ///< UTF-8
  std::string_view fields = {};  ///< opaque, counts as a whole; the server keeps a JSON object here
};

/// What is known of one item: of each thing the newest word, 0 or empty where none is kept.
struct HistoryEntry {
  std::string collection;
  std::string item;   ///< the id as text
  int64_t at_ms = 0;  ///< of the newest report
  int32_t progress_s = 0;
  int32_t duration_s = 0;
  std::string device;
  std::string fields;
};

/// One page of what a user watched, the newest first.
struct HistoryRequest {
  IdRef user = {};                                     ///< whose
  std::span<const std::string_view> collections = {};  ///< merged; empty: all that keep history
  uint32_t limit = 20;                                 ///< entries, 1-kMaxHistoryLimit
  std::string_view cursor = {};                        ///< HistoryPage::cursor; empty: the newest
  /// Where no collection is named: also what those keep still whose history was switched off.
  bool switched_off = false;
};

/// The answer. Each item of a collection appears once over all pages, by its newest `at`; plays
/// that arrive between two pages neither repeat nor hide an entry that they do not concern.
struct HistoryPage {
  std::vector<HistoryEntry> entries;  ///< the latest first; of one time by collection, item
  std::string cursor;                 ///< of the next page; empty: this was the last
  bool degraded = false;              ///< something could not be read; entries may be missing
  std::vector<std::string>
      missing;  ///< "<collection>/<bucket>", "<collection>/log", "shard", "clock"
};

/// The states of several items: one for each item asked about, in that order.
struct HistoryLookup {
  std::vector<std::optional<HistoryEntry>> entries;  ///< nothing: never watched, deleted, expired
  bool degraded = false;                             ///< as in HistoryPage
  std::vector<std::string> missing;                  ///< as in HistoryPage
};

/// When a call takes effect: a time in ms since 1970 UTC, or nothing: now. It must lie in the
/// calendar (kFirstTimeMs to kLastTimeMs) and at most kMostAheadMs ahead of the clock, where no log
/// brings it: else kInvalidArgument ("/at_ms"), and nothing has changed.
struct CallTime {
  CallTime() = default;  ///< now
  /// That time, or now.
  CallTime(std::optional<int64_t> at_ms) : ms(at_ms) {}  // NOLINT(google-explicit-constructor)
  CallTime(int64_t at_ms) : ms(at_ms) {}  // NOLINT(google-explicit-constructor) ///< that time
  /// Of a call that comes out of a log: when it arrived there, so that its effect is the same
  /// whenever the log is read, and by whom. The calendar alone bounds it, never this machine's
  /// clock: it was asked where the call was accepted.
  static CallTime OutOfLog(int64_t at_ms) {
    CallTime time(at_ms);
    time.of_log = true;
    return time;
  }

  std::optional<int64_t> ms = {};
  bool of_log = false;
};
/// Longer ahead of the clock no call takes effect.
inline constexpr int64_t kMostAheadMs = 3'600'000;

/// What a clear takes.
struct HistoryClear {
  /// Empty: all, also those that keep no history at present.
  std::span<const std::string_view> collections = {};
  /// Also what the filters know: plays and impressions up to now. A collection named then need not
  /// keep history.
  bool filter = false;
  CallTime at_ms = {};  ///< when it is asked for
};

/// Whether plays enter a user's history.
struct Recording {
  bool paused = false;
  int64_t since_ms = 0;  ///< of the last change; 0: never changed
};

}  // namespace seendb
