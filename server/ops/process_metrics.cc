// The part of /metrics about the process itself, under the names that Prometheus' own client
// libraries give it, from /proc (proc(5)).

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "ops/metric_family.h"
#include "ops/metrics.h"

namespace seendb::ops {
namespace {

using prometheus::MetricType;

/// Fields of /proc/self/stat behind the name of the command, by their number in proc(5).
class ProcessStat {
 public:
  ProcessStat() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    // The name of the command, field 2, may have blanks and parentheses.
    const size_t end = line.rfind(')');
    if (end == std::string::npos) return;
    std::istringstream rest(line.substr(end + 1));
    std::string state;
    rest >> state;
    for (size_t i = kFirst; i < fields_.size() && rest >> fields_[i]; ++i) {
    }
  }

  double ticks(size_t field) const {
    return fields_[field] / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  double value(size_t field) const { return fields_[field]; }

  static constexpr size_t kUserTicks = 14, kSystemTicks = 15, kThreads = 20, kStartTicks = 22,
                          kVirtualBytes = 23, kResidentPages = 24;

 private:
  static constexpr size_t kFirst = 4;
  std::array<double, kResidentPages + 1> fields_{};
};

/// When the machine was started, in seconds since 1970; 0: unknown.
double BootSeconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime") file >> seconds;
  }
  return seconds;
}

double OpenDescriptors() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return std::max(0.0, count - 1);  // one is the iterator's
}

}  // namespace

void CollectProcess(const MetricsSnapshot& snapshot,
                    std::vector<prometheus::MetricFamily>* families) {
  const auto add = [&](const char* name, const char* help, MetricType type, double value,
                       const Labels& labels = {}) {
    families->push_back(MakeFamily(name, help, type));
    AddValue(&families->back(), labels, value);
  };
  add("seendb_build_info", "1, with the version and the commit that run.", MetricType::Gauge, 1,
      {{"version", snapshot.version}, {"commit", snapshot.commit}});
  const ProcessStat stat;
  const double resident =
      stat.value(ProcessStat::kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE));
  add("process_cpu_seconds_total", "Processor time, user and system.", MetricType::Counter,
      stat.ticks(ProcessStat::kUserTicks) + stat.ticks(ProcessStat::kSystemTicks));
  add("process_resident_memory_bytes", "Memory that is in use.", MetricType::Gauge, resident);
  add("seendb_resident_bytes", "The same.", MetricType::Gauge, resident);
  add("process_virtual_memory_bytes", "Address space.", MetricType::Gauge,
      stat.value(ProcessStat::kVirtualBytes));
  add("process_threads", "Threads.", MetricType::Gauge, stat.value(ProcessStat::kThreads));
  add("process_open_fds", "File descriptors that are open.", MetricType::Gauge, OpenDescriptors());
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  add("process_max_fds", "File descriptors that may be open.", MetricType::Gauge,
      static_cast<double>(descriptors.rlim_cur));
  static const double boot_s = BootSeconds();
  add("process_start_time_seconds", "When the process began, in seconds since 1970.",
      MetricType::Gauge, boot_s + stat.ticks(ProcessStat::kStartTicks));
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(snapshot.db, error);
  if (!error) {
    add("seendb_disk_free_bytes", "Left for the database on its file system.", MetricType::Gauge,
        static_cast<double>(space.available));
    add("seendb_disk_size_bytes", "The file system of the database.", MetricType::Gauge,
        static_cast<double>(space.capacity));
  }
  if (snapshot.last_checkpoint_ms > 0) {
    add("seendb_last_checkpoint_seconds",
        "When the last checkpoint by POST /admin/checkpoint was complete, in seconds since 1970; "
        "absent until there was one.",
        MetricType::Gauge, static_cast<double>(snapshot.last_checkpoint_ms) * 1e-3);
  }
}

}  // namespace seendb::ops
