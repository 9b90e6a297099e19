// seendb/progress.h: a line on a terminal's stderr that tells how far a long command came.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace seendb::tool {

/// What the line says, apart from when it is drawn:
/// `[=======>            ]  36%  1,234,567 plays  812,345/s  4 s left`. Without a total (fraction
/// below 0) only the counts.
std::string ProgressLine(double fraction, uint64_t rows, const std::string& unit, double elapsed_s,
                         uint64_t rows_at_begin);

/// Draws it five times a second, if stderr is a terminal; silent otherwise. Threads: one.
class Progress {
 public:
  /// Counts `unit`s; `rows_at_begin` were dealt with earlier and don't count for the speed.
  explicit Progress(std::string unit, uint64_t rows_at_begin = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `fraction` 0..1 of the whole, or below 0 where nobody knows.
  void Show(double fraction, uint64_t rows);
  /// Wipes the line off, before something else is printed.
  void Clear();
  /// Seconds since the beginning.
  double elapsed_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string unit_;
  uint64_t rows_at_begin_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace seendb::tool
