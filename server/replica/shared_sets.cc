#include "replica/shared_sets.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "cluster/log_record.h"
#include "cluster/topic_reader.h"
#include "cluster/topic_writer.h"
#include "ops/log.h"

namespace seendb::replica {
namespace {

constexpr int kSetsEndMs = 5'000;

void LogTopic(const char* event, const std::string& text) {
  ops::Log(ops::LogLevel::kWarn, event, {{"text", text}});
}

}  // namespace

/// Hands to the store what is read.
class SharedSets::Sink final : public cluster::TopicSink {
 public:
  explicit Sink(SetLog* store) : store_(*store) {}

  int64_t next_offset() const override { return store_.next_offset(); }
  Status Take(std::span<const cluster::TopicRecord> records, int64_t next_offset) override {
    entries_.clear();
    for (const cluster::TopicRecord& record : records) {
      entries_.push_back({record.offset, record.key, record.value});
    }
    const uint64_t before = store_.passed_over();
    Status taken = store_.Apply(entries_, next_offset);
    if (const uint64_t passed = store_.passed_over() - before; passed > 0) {
      ops::Log(ops::LogLevel::kWarn, "set_records_refused",
               {{"records", passed}, {"before_offset", next_offset}});
    }
    return taken;
  }
  Status BeginAnew() override { return store_.BeginAnew(); }
  void SetCurrent(bool current) override { store_.SetCurrent(current); }

 private:
  SetLog& store_;
  std::vector<SetLogEntry> entries_;
};

SharedSets::SharedSets(SharedSetsOptions options)
    : options_(std::move(options)), topic_(cluster::SetsTopicOf(options_.cluster)) {}

SharedSets::~SharedSets() { Stop(); }

Status SharedSets::Start(const std::string& uuid) {
  std::error_code none;
  if (std::filesystem::exists(options_.folder + ".repair", none)) {
    return Status::Corruption("a repair of the sets was begun and not finished: run seendb repair");
  }
  auto opened = SetLog::Open(
      options_.folder,
      {.log = uuid + " " + topic_, .append = [this](auto records) { return Append(records); }});
  if (!opened.ok()) return opened.status();
  store_ = std::move(opened).value();
  if (store_->dropped() > 0) {
    ops::Log(ops::LogLevel::kWarn, "sets_dropped",
             {{"sets", store_->dropped()}, {"reason", "they are not of this cluster's topic"}});
  }
  sink_ = std::make_unique<Sink>(store_.get());
  auto follower = cluster::TopicFollower::Start({.access = options_.access,
                                                 .topic = topic_,
                                                 .client = "seendb-cluster",
                                                 .sink = sink_.get(),
                                                 .may_lack = [this] { return !MayWrite().ok(); },
                                                 .log = LogTopic});
  if (!follower.ok()) return follower.status();
  follower_ = std::move(follower).value();
  cleaner_.Start("sets-cleaner", [this] {
    while (cleaner_.WaitFor(options_.limits.clean_every)) Clean();
  });
  return {};
}

void SharedSets::Stop() {
  leaving_ = true;
  cleaner_.AskToStop();
  if (follower_) follower_->Stop();
  cleaner_.Stop();
}

std::vector<std::string> SharedSets::Problems() const {
  if (!follower_) return {};
  const std::string problem = follower_->problem();
  if (problem.empty()) return {};
  return {"sets: " + problem};
}

Result<int64_t> SharedSets::Write(std::span<const SetRecord> records,
                                  std::chrono::milliseconds most) {
  std::vector<cluster::NewTopicRecord> written;
  written.reserve(records.size());
  for (const SetRecord& record : records) {
    std::optional<std::string_view> value;
    if (record.value) value = *record.value;
    written.push_back({record.key, value});
  }
  return cluster::AppendInOrder(options_.access, topic_, written, static_cast<int>(most.count()),
                                &leaving_);
}

Status SharedSets::MayWrite() const { return cluster::CheckMayWriteSets(options_.log_version()); }

// Nobody is told of a set that the node itself does not have yet.
Status SharedSets::Append(std::span<const SetRecord> records) {
  if (leaving_) return Status::Unavailable("this node is leaving");
  if (Status may = MayWrite(); !may.ok()) return may;
  const Result<int64_t> last = Write(records, options_.limits.append);
  if (last.status().code() == StatusCode::kNotFound) {
    return Status::Unavailable("topic " + topic_ +
                               " is not there; seendb cluster upgrade --finish makes it");
  }
  if (!last.ok()) return last.status();
  if (follower_->WaitFor(*last + 1, options_.limits.apply)) {
    cleaner_.Wake();  // what the set had before is of no use any more
    return {};
  }
  return Status::Unavailable("the set is in topic " + topic_ + ", and not read here yet");
}

bool SharedSets::HasReadToEnd() const {
  const auto reader = cluster::TopicReader::Open(options_.access, topic_, "seendb-cluster",
                                                 cluster::TopicReader::Topic::kCompactedLater);
  if (!reader.ok()) return false;
  const auto ends = (*reader)->AskEnds(kSetsEndMs);
  return ends.ok() && follower_->WaitFor(ends->second, options_.limits.apply);
}

// The records stand behind the version that counts: a node that reads meanwhile has the one or the
// other. What nobody finished is judged by a node that has read all that was written of it.
void SharedSets::Clean() {
  const auto now = std::chrono::steady_clock::now();
  std::optional<std::chrono::milliseconds> old;
  if (options_.cleans()) old = options_.limits.old;
  std::vector<SetRecord> left = store_->Leftovers(now, old);
  if (old && !left.empty()) {
    if (!HasReadToEnd()) old.reset();
    left = store_->Leftovers(now, old);
  }
  if (left.empty() || leaving_) return;
  const Result<int64_t> last = Write(left, options_.limits.clean);
  if (!last.ok()) {
    ops::Log(ops::LogLevel::kWarn, "sets_not_cleaned", {{"error", last.status().ToString()}});
    return;
  }
  follower_->WaitFor(*last + 1, options_.limits.apply);
}

}  // namespace seendb::replica
