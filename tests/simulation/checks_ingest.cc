#include "simulation/checks_ingest.h"

#include <string_view>

#include <nlohmann/json.hpp>

namespace seendb::simulation {
namespace {

constexpr std::string_view kPrefix = "source/";

std::string TextOf(const SourceCounts& counts) {
  return std::to_string(counts.plays_accepted) + "+" + std::to_string(counts.plays_refused) +
         " plays, " + std::to_string(counts.impressions_accepted) + "+" +
         std::to_string(counts.impressions_refused) + " impressions, " +
         std::to_string(counts.exposures_accepted) + "+" +
         std::to_string(counts.exposures_refused) + " exposures, " +
         std::to_string(counts.dead_letters) + " dead letters";
}

}  // namespace

void CheckSources(const Model& model, Engine* engine) {
  const std::vector<Source> known = model.sources().Known();
  const std::vector<SourceInfo> told = engine->Sources();
  if (told.size() != known.size()) {
    throw Violation(std::to_string(told.size()) + " sources are known, expected " +
                    std::to_string(known.size()));
  }
  for (size_t i = 0; i < told.size(); ++i) {
    const SourceInfo& info = told[i];
    const std::string name = info.topic + "/" + std::to_string(info.partition);
    if (Source(info.topic, info.partition) != known[i]) throw Violation(name + " is not a source");
    const std::optional<int64_t> next = model.sources().LowestOf(known[i]);
    if (info.next_offset != next) {
      throw Violation(name + " is to be read from " +
                      std::to_string(info.next_offset.value_or(-1)) + " on, expected " +
                      std::to_string(next.value_or(-1)));
    }
    const SourceCounts counts = model.sources().CountsOf(known[i]);
    if (TextOf(info.counts) != TextOf(counts)) {
      throw Violation(name + ": " + TextOf(info.counts) + ", expected " + TextOf(counts));
    }
    std::optional<SourceMark> last;
    if (next && *next > 0) {
      last = SourceMark{*next - 1, SourcesModel::TimeOf(known[i], *next - 1)};
    }
    if (info.last != last || info.held) throw Violation(name + " ends with another message");
  }
}

void CheckIngested(const Model& model, const SourceCounts& counts) {
  SourceCounts sum;
  for (const Source& source : model.sources().Known()) sum += model.sources().CountsOf(source);
  if (TextOf(sum) == TextOf(counts)) return;
  throw Violation("statistics: ingested " + TextOf(counts) + ", expected " + TextOf(sum));
}

Result<std::vector<StoredOffsets>> ReadOffsets(Engine* engine, uint32_t shards) {
  std::vector<StoredOffsets> stored(shards);
  const Status status = engine->Scan("default", [&](const ScanRow& row) {
    if (row.family != "default" || !row.key.starts_with(kPrefix)) return true;
    const size_t slash = row.key.rfind('/');
    const auto json = nlohmann::json::parse(row.value, nullptr, false);
    if (!json.is_object()) throw Violation("an offset can't be read: " + row.value);
    const std::string topic = row.key.substr(kPrefix.size(), slash - kPrefix.size());
    const auto partition = static_cast<uint32_t>(std::stoul(row.key.substr(slash + 1)));
    stored[row.shard][{topic, partition}] = json.at("next_offset").get<int64_t>();
    return true;
  });
  if (!status.ok()) return status;
  return stored;
}

}  // namespace seendb::simulation
