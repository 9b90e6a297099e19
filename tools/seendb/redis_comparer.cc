#include "redis_comparer.h"

#include <algorithm>
#include <utility>

#include "key_forms.h"
#include "member_time.h"
#include "seendb/id.h"

namespace seendb::tool {
namespace {

/// Items of other users that are asked about with each user's own.
constexpr size_t kOthers = 20;
constexpr size_t kRecentMax = 2'000;
/// Items that are asked about in one go.
constexpr size_t kItemsAtOnce = 20'000;

int64_t WindowBeginMs(const Policy& policy, int64_t now_ms) {
  return BucketBeginMs(policy, BucketIndexOf(policy, now_ms) - policy.window + 1);
}

}  // namespace

RedisComparer::RedisComparer(redis::Client& client, FilterAsker& asker, ComparisonOptions options)
    : client_(client),
      asker_(asker),
      reader_(client),
      options_(std::move(options)),
      window_begin_ms_(WindowBeginMs(options_.policy, options_.now_ms)) {
  if (options_.hashes) reader_.ReadHashes();
}

bool RedisComparer::IsInside(std::optional<int64_t> at_ms) const {
  return at_ms && *at_ms >= window_begin_ms_ &&
         *at_ms <= options_.now_ms + options_.policy.max_future_ms;
}

Status RedisComparer::Compare(const std::vector<std::string>& keys) {
  std::vector<std::string> of_users;
  for (const std::string& key : keys) {
    const bool fits = WhyNobodys(key, options_.users, options_.form).empty();
    if (fits) of_users.push_back(key);
    tally_.not_read += fits ? 0 : 1;
  }
  Status status = reader_.Read(of_users, [&](const redis::KeyPiece& piece) {
    return TakePiece(of_users[piece.key], piece);
  });
  return status.ok() ? AskAll() : status;
}

Status RedisComparer::TakePiece(const std::string& key, const redis::KeyPiece& piece) {
  const TimeOfMembers times{options_.unit, options_.at_ms, piece.kind};
  if (piece.kind == redis::KeyKind::kAbsent || piece.kind == redis::KeyKind::kOther ||
      !times.known()) {
    tally_.not_read += piece.last ? 1 : 0;
    return {};
  }
  tally_.users += piece.last ? 1 : 0;
  tally_.members += piece.members.size();
  // Of impressions the newest are kept: in a sorted set they are the last, in a list the first.
  const size_t cap = options_.policy.impressions;
  const bool capped = options_.kind == EventKind::kImpressions && !options_.policy.served_is_seen;
  Asked asked;
  asked.question.user = *options_.users.UserOf(key);
  asked.key = &key;
  asked.kind = piece.kind;
  const auto take = [&] {
    if (asked.question.items.empty()) return;
    AddOthers(&asked);
    items_ += asked.question.items.size();
    asked_.push_back(asked);
    asked.question.items.clear();
    asked.at_ms.clear();
  };
  for (size_t i = 0; i < piece.members.size(); ++i) {
    const redis::Member& member = piece.members[i];
    const auto at_ms = times.Of(member, piece.begin + i);
    const size_t newer = piece.kind == redis::KeyKind::kList ? i : piece.members.size() - 1 - i;
    if (!IsInside(at_ms) || !IdRef(member.item).Validate().ok() || (capped && newer >= cap)) {
      ++tally_.outside_window;
      continue;
    }
    asked.question.items.emplace_back(member.item);
    asked.at_ms.push_back(at_ms);
    if (asked.question.items.size() == kQuestionItems) take();
  }
  take();
  return items_ >= kItemsAtOnce ? AskAll() : Status();
}

/// Puts items of other users behind the user's own, and remembers some of those.
void RedisComparer::AddOthers(Asked* asked) {
  const size_t own = asked->question.items.size();
  const size_t step = std::max<size_t>(1, recent_.size() / kOthers);
  for (size_t i = 0; i < recent_.size(); i += step) asked->question.items.push_back(recent_[i]);
  for (size_t i = 0; i < own; i += std::max<size_t>(1, own / 4)) {
    recent_.push_back(asked->question.items[i]);
    if (recent_.size() > kRecentMax) recent_.pop_front();
  }
}

Status RedisComparer::AskAll() {
  std::vector<Asked> all = std::exchange(asked_, {});
  items_ = 0;
  std::vector<FilterQuestion> questions;
  questions.reserve(all.size());
  for (Asked& one : all) questions.push_back(std::move(one.question));
  Status status = asker_.Ask(&questions);
  for (size_t i = 0; i < all.size(); ++i) all[i].question = std::move(questions[i]);
  return status.ok() ? Judge(all) : status;
}

Status RedisComparer::Judge(const std::vector<Asked>& all) {
  const auto describe = [](std::vector<Difference>* samples, const Asked& one, size_t i) {
    if (samples->size() == kDifferencesMax) return;
    const auto at_ms = i < one.at_ms.size() ? one.at_ms[i] : std::nullopt;
    samples->push_back({one.question.user, one.question.items[i], at_ms});
  };
  // Whether an item of others is the user's own after all, Redis says.
  redis::Pipeline pipeline;
  std::vector<std::pair<const Asked*, size_t>> doubted;
  for (const Asked& one : all) {
    const FilterQuestion& question = one.question;
    tally_.degraded += question.degraded ? 1 : 0;
    tally_.checked += one.at_ms.size();
    for (size_t i = 0; i < one.at_ms.size(); ++i) {
      if (question.seen[i]) continue;
      ++tally_.missing;
      describe(&tally_.missing_samples, one, i);
    }
    if (one.kind == redis::KeyKind::kList) continue;
    for (size_t i = one.at_ms.size(); i < question.items.size(); ++i) {
      if (!question.seen[i]) {
        ++tally_.others_checked;
        continue;
      }
      doubted.emplace_back(&one, i);
      pipeline.Add({one.kind == redis::KeyKind::kZset   ? "ZSCORE"
                    : one.kind == redis::KeyKind::kHash ? "HGET"
                                                        : "SISMEMBER",
                    *one.key, question.items[i]},
                   *one.key);
    }
  }
  if (doubted.empty()) return {};
  auto replies = client_.Run(pipeline);
  if (!replies.ok()) return replies.status();
  for (size_t i = 0; i < doubted.size(); ++i) {
    const redis::Reply& reply = (*replies)[i];
    const bool counts = doubted[i].first->kind == redis::KeyKind::kSet;
    const bool is_member = counts ? reply.integer() != 0 : !reply.is_nil();
    if (is_member || reply.is_error()) continue;
    ++tally_.others_checked;
    ++tally_.extra;
    describe(&tally_.extra_samples, *doubted[i].first, doubted[i].second);
  }
  return {};
}

}  // namespace seendb::tool
