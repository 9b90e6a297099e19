#include "key_source.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "byte_source.h"
#include "record_reader.h"
#include "redis/keys.h"
#include "redis/walk_limit.h"
#include "report_json.h"

namespace seendb::tool {
namespace {

/// How often the nodes may change under one scan.
constexpr int kChangesMax = 1'000;

/// SCAN counts with its bits in reverse: how far a cursor is on its way.
double FractionOf(uint64_t cursor) {
  uint64_t reversed = 0;
  for (int bit = 0; bit < 64; ++bit) {
    reversed = (reversed << 1) | ((cursor >> bit) & 1);
  }
  return static_cast<double>(reversed) / 18'446'744'073'709'551'616.0;
}

class ScanSource : public KeySource {
 public:
  ScanSource(redis::Client& client, std::string pattern)
      : client_(client), pattern_(std::move(pattern)) {}

  Status GoTo(const Json& place) override {
    walks_.clear();
    for (const Json& one : ListOf(place, "nodes")) {
      walks_.push_back({{TextOf(one, "address"), TextOf(one, "slots"), TextOf(one, "run")},
                        TextOf(one, "cursor"),
                        FlagOf(one, "done")});
    }
    return {};
  }

  Result<bool> Next(KeyPage* page) override {
    page->keys.clear();
    if (look_) {
      Status looked = LookAtNodes();
      if (!looked.ok()) return looked;
      look_ = false;
    }
    const auto walk =
        std::find_if(walks_.begin(), walks_.end(), [](const Walk& one) { return !one.done; });
    if (walk == walks_.end()) {
      // What was walked counts if the nodes are still those.
      Status looked = LookAtNodes();
      if (!looked.ok()) return looked;
      if (std::all_of(walks_.begin(), walks_.end(), [](const Walk& one) { return one.done; })) {
        return false;
      }
      return Next(page);
    }
    Status scanned = Scan(&*walk, page);
    if (!scanned.ok()) {
      look_ = true;  // it may be another process when it is back
      return scanned;
    }
    page->after = Place();
    page->fraction = Fraction();
    return true;
  }

 private:
  struct Walk {
    redis::Node node;
    std::string cursor = "0";
    bool done = false;
    std::optional<redis::WalkLimit> limit = {};
  };

  /// How many keys the node says it has: its walk has an end by that.
  Status AskSize(Walk* walk) {
    auto reply = client_.RunOn(walk->node.address, {"DBSIZE"});
    if (!reply.ok()) return reply.status();
    if (reply->is_error()) return reply->status();
    walk->limit.emplace(static_cast<uint64_t>(std::max(0LL, reply->integer())), kKeysOfPage);
    return {};
  }

  Status Scan(Walk* walk, KeyPage* page) {
    if (!walk->limit) {
      Status asked = AskSize(walk);
      if (!asked.ok()) return asked;
    }
    auto reply = client_.RunOn(walk->node.address, {"SCAN", walk->cursor, "MATCH", pattern_,
                                                    "COUNT", std::to_string(kKeysOfPage)});
    if (!reply.ok()) return reply.status();
    if (reply->is_error()) return reply->status();
    const auto parts = reply->elements();
    if (parts.size() != 2) return Status::Unavailable("Redis: SCAN's answer can't be read");
    const std::string_view next = redis::Reply::TextOf(*parts[0]);
    if (!redis::GoesOn(walk->cursor, next))
      return Status::Unavailable("Redis: SCAN does not go on");
    walk->cursor = next;
    walk->done = walk->cursor == "0";
    for (const redisReply* const key : redis::Reply::ElementsOf(*parts[1])) {
      page->keys.emplace_back(redis::Reply::TextOf(*key));
    }
    if (walk->done || walk->limit->Take(page->keys.size())) return {};
    return Status::Incompatible("Redis: SCAN does not end: it gave far more than DBSIZE says");
  }

  /// Takes in which primaries there are: those that are the same as before keep their place.
  Status LookAtNodes() {
    auto nodes = client_.Nodes();
    if (!nodes.ok()) return nodes.status();
    std::vector<Walk> walks;
    bool changed = false;
    for (redis::Node& node : *nodes) {
      const auto same = std::find_if(walks_.begin(), walks_.end(), [&](const Walk& one) {
        return one.node.address == node.address && one.node.slots == node.slots &&
               one.node.run == node.run;
      });
      if (same != walks_.end()) {
        walks.push_back(*same);
        continue;
      }
      changed = true;
      walks.push_back({std::move(node)});
    }
    walks_ = std::move(walks);
    if (changed && ++changes_ > kChangesMax) {
      return Status::Incompatible("the nodes of Redis change faster than they can be walked");
    }
    return {};
  }

  Json Place() const {
    Json nodes = Json::array();
    for (const Walk& walk : walks_) {
      nodes.push_back({{"address", walk.node.address},
                       {"slots", walk.node.slots},
                       {"run", walk.node.run},
                       {"cursor", walk.cursor},
                       {"done", walk.done}});
    }
    return {{"nodes", std::move(nodes)}};
  }

  double Fraction() const {
    double sum = 0;
    for (const Walk& walk : walks_) {
      uint64_t cursor = 0;
      std::from_chars(walk.cursor.data(), walk.cursor.data() + walk.cursor.size(), cursor);
      sum += walk.done ? 1 : FractionOf(cursor);
    }
    return walks_.empty() ? 1 : sum / static_cast<double>(walks_.size());
  }

  redis::Client& client_;
  const std::string pattern_;
  std::vector<Walk> walks_;
  bool look_ = true;
  int changes_ = 0;
};

class FileSource : public KeySource {
 public:
  explicit FileSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)),
        lines_([this](char* to, size_t size) { return source_->Read(to, size); },
               {.delimiter = '\n', .quoted = false}) {}

  Status GoTo(const Json& place) override {
    const uint64_t lines = CountOf(place, "lines");
    while (line_ < lines) {
      std::span<char> line;
      Result<bool> more = NextLine(&line);
      if (!more.ok()) return more.status();
      if (!*more) return Status::InvalidArgument("--keys: the file has fewer lines than were read");
    }
    return {};
  }

  Result<bool> Next(KeyPage* page) override {
    page->keys.clear();
    while (page->keys.size() < kKeysOfPage) {
      std::span<char> line;
      Result<bool> more = NextLine(&line);
      if (!more.ok()) return more;
      if (!*more) break;
      page->keys.emplace_back(line.data(), line.size());
    }
    page->after = {{"lines", line_}};
    const auto whole = static_cast<double>(source_->file_bytes());
    page->fraction = whole > 0 ? static_cast<double>(source_->file_bytes_read()) / whole : -1;
    return !page->keys.empty();
  }

 private:
  Result<bool> NextLine(std::span<char>* line) {
    const RecordKind kind = lines_.Next(line);
    if (kind == RecordKind::kEnd) return false;
    if (kind == RecordKind::kFailed) return lines_.status();
    ++line_;
    if (kind != RecordKind::kRecord) {
      return Status::InvalidArgument("--keys: line " + std::to_string(line_) + " is too long");
    }
    return true;
  }

  std::unique_ptr<ByteSource> source_;
  RecordReader lines_;
  uint64_t line_ = 0;
};

}  // namespace

std::unique_ptr<KeySource> ScanKeys(redis::Client& client, std::string pattern) {
  return std::make_unique<ScanSource>(client, std::move(pattern));
}

Result<std::unique_ptr<KeySource>> FileKeys(const std::string& path) {
  auto source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  return std::unique_ptr<KeySource>(std::make_unique<FileSource>(std::move(source).value()));
}

}  // namespace seendb::tool
