#include "model/cluster/real.h"

#include <cstdlib>
#include <tuple>
#include <utility>

#include "cluster/log_record.h"
#include "cluster/meta_record.h"
#include "cluster/placement.h"

namespace seendb::cluster_model {
namespace {

using cluster::Meta;
using cluster::MetaRecord;

constexpr int kMadeBy = 6;  // records: the cluster, three members, the placement, the collection
constexpr int64_t kFirstPlacement = 4;
constexpr char kPolicy[] = R"({"representation":"exact","history":{"enabled":true}})";
// Records of a change: a collection that is made again has two.
constexpr int kRecordsOfChange = 2;

std::vector<MetaRecord> RecordsThatMadeIt(const Made& made) {
  std::vector<MetaRecord> records;
  records.emplace_back(cluster::InitRecord{.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
                                           .partitions = 2,
                                           .replicas = 2,
                                           .hash = 1,
                                           .at_ms = made.has_past ? 0 : 1,
                                           .log_version = made.log_version});
  for (int node = 0; node < kNodes; ++node) {
    const bool reads = (made.readers >> node & 1) != 0;
    records.emplace_back(cluster::MemberRecord{.node = NameOf(node),
                                               .url = "http://" + NameOf(node) + ":1",
                                               .zone = NameOf(node),
                                               .log_version = reads ? 2U : 1U});
  }
  records.emplace_back(
      cluster::PlacementRecord{-1, {{NameOf(0), NameOf(1)}, {NameOf(1), NameOf(2)}}});
  records.emplace_back(
      cluster::CollectionRecord{.name = kCollection, .patch = kPolicy, .at_ms = 1});
  return records;
}

int64_t OffsetOf(int change) { return kMadeBy + int64_t{kRecordsOfChange} * change; }

// `base` of a move is what its writer took to be in force, whatever is by now.
std::vector<MetaRecord> RecordsOf(const Made& made, const Changes& changes, int at) {
  const Change change = changes[static_cast<size_t>(at)];
  if (change == kMadeAgain) {
    return {cluster::CollectionGoneRecord{.name = kCollection, .at_ms = 2},
            cluster::CollectionRecord{.name = kCollection, .patch = kPolicy, .at_ms = 2}};
  }
  if (change == kUpgraded) return {cluster::LogVersionRecord{2}};
  const int base = change >> 5 & 3;
  const Meta& seen = FoldOf(made, changes, base);
  const auto moved = cluster::MoveReplica(seen.placement().assign, change >> 4 & 1,
                                          NameOf(change >> 2 & 3), NameOf(change & 3));
  cluster::PlacementRecord record;
  record.base = seen.placement().offset;
  record.assign = moved.ok() ? *moved : seen.placement().assign;
  return {record};
}

struct Fold {
  Meta meta;
  bool counted = false;  // the newest change
};

const Fold& FoldAndVerdict(const Made& made, const Changes& changes, int read) {
  using Key = std::tuple<Made, Changes, int>;
  static std::map<Key, Fold> folds;
  Changes first = changes;
  for (size_t at = static_cast<size_t>(read); at < first.size(); ++at) first[at] = 0;
  const Key key{made, first, read};
  if (const auto known = folds.find(key); known != folds.end()) return known->second;
  Fold fold;
  if (read == 0) {
    int64_t offset = 0;
    for (const MetaRecord& record : RecordsThatMadeIt(made)) {
      if (!fold.meta.Apply(offset++, EncodeMeta(record)).ok()) std::abort();
    }
    fold.counted = true;
  } else {
    fold.meta = FoldOf(made, changes, read - 1);
    int64_t offset = OffsetOf(read - 1);
    for (const MetaRecord& record : RecordsOf(made, changes, read - 1)) {
      fold.counted = fold.meta.Apply(offset++, EncodeMeta(record)).ok();
    }
  }
  return folds.emplace(key, std::move(fold)).first->second;
}

}  // namespace

std::string NameOf(int node) { return "n" + std::to_string(node); }
int NumberOf(const std::string& name) { return name.at(1) - '0'; }

const Meta& FoldOf(const Made& made, const Changes& changes, int read) {
  return FoldAndVerdict(made, changes, read).meta;
}

bool Counted(const Made& made, const Changes& changes, int at) {
  return FoldAndVerdict(made, changes, at + 1).counted;
}

int BaseOf(const Meta& meta) {
  const int64_t offset = meta.placement().offset;
  return offset == kFirstPlacement ? 0
                                   : static_cast<int>((offset - kMadeBy) / kRecordsOfChange) + 1;
}

int64_t OffsetBehind(int read) { return OffsetOf(read); }

int ThroughTheLog(uint32_t log_version, int read) {
  if (!cluster::CheckMayWrite(cluster::LogKind::kPlays, log_version).ok()) std::abort();
  cluster::LogHeader header{cluster::LogKind::kPlays, 1, 1};
  if (log_version >= 2) header.meta_offset = OffsetBehind(read);
  const auto decoded = cluster::DecodeLogHeader(cluster::EncodeLogHeader(header));
  if (!decoded.ok()) std::abort();
  if (!decoded->meta_offset) return -1;
  return static_cast<int>((*decoded->meta_offset - kMadeBy) / kRecordsOfChange);
}

bool PlayCounts(const Meta& meta, int written_at) {
  const auto known = meta.collections().find(kCollection);
  return known != meta.collections().end() && known->second.made_by < OffsetBehind(written_at);
}

std::map<std::string, cluster::NodeView> ViewsOf(const Views& views,
                                                 const std::array<int64_t, kNodes>& at_ms) {
  std::map<std::string, cluster::NodeView> nodes;
  for (int node = 0; node < kNodes; ++node) {
    const Said& said = views[static_cast<size_t>(node)];
    cluster::NodeView& view = nodes[NameOf(node)];
    if (said.known == 0) continue;
    if (said.up != 0) view.health.Answered();
    view.asked_ms = view.answered_ms = at_ms[static_cast<size_t>(node)];
    cluster::NodeReport& report = view.report.emplace();
    report.incarnation = std::to_string(said.incarnation);
    report.meta_offset = OffsetBehind(said.read);
    if (said.opening != 0) continue;
    if (said.replica == kNone) {
      report.none = {0};
      continue;
    }
    const int64_t behind_ms = said.replica == kBehind ? cluster::kBehindMost + 1 : 0;
    cluster::ReplicaReport& replica = report.replicas[0];
    replica.state = cluster::StateOfOpen(said.replica != kCatchingUp, behind_ms);
    replica.next_offset = said.next;
    replica.behind_ms = behind_ms;
    replica.cut_off = said.cut_off != 0;
  }
  return nodes;
}

}  // namespace seendb::cluster_model
