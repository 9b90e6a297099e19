#include "progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include "units.h"

namespace seendb::tool {
namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kRedraw(200);

}  // namespace

std::string ProgressLine(double fraction, uint64_t rows, const std::string& unit, double elapsed_s,
                         uint64_t rows_at_begin) {
  std::string line;
  if (fraction >= 0) {
    fraction = std::min(fraction, 1.0);
    const int done = static_cast<int>(std::floor(fraction * kBarWidth));
    line = "[" + std::string(static_cast<size_t>(done), '=');
    if (done < kBarWidth) line += ">" + std::string(static_cast<size_t>(kBarWidth - done - 1), ' ');
    char percent[16];
    std::snprintf(percent, sizeof(percent), "] %3d%%  ", static_cast<int>(fraction * 100));
    line += percent;
  }
  line += FormatCount(rows) + " " + unit;
  if (elapsed_s <= 0) return line;
  line += "  " + FormatRate(static_cast<double>(rows - std::min(rows, rows_at_begin)) / elapsed_s);
  if (fraction > 0.01 && fraction < 1 && elapsed_s > 1 && rows_at_begin == 0) {
    line +=
        "  " + FormatDurationUs(std::ceil(elapsed_s * (1 - fraction) / fraction) * 1e6) + " left";
  }
  return line;
}

Progress::Progress(std::string unit, uint64_t rows_at_begin)
    : unit_(std::move(unit)),
      rows_at_begin_(rows_at_begin),
      terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { Clear(); }

double Progress::elapsed_s() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Progress::Show(double fraction, uint64_t rows) {
  if (!terminal_ || Clock::now() - last_ < kRedraw) return;
  last_ = Clock::now();
  drawn_ = true;
  // Back to the line's start, the line, and wipe what is left of the last one.
  std::fprintf(stderr, "\r%s\x1b[K",
               ProgressLine(fraction, rows, unit_, elapsed_s(), rows_at_begin_).c_str());
  std::fflush(stderr);
}

void Progress::Clear() {
  if (!std::exchange(drawn_, false)) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace seendb::tool
