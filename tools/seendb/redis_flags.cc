#include "redis_flags.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "interrupt.h"
#include "key_forms.h"
#include "redis/key_reader.h"
#include "server_address.h"
#include "times/time_text.h"

namespace seendb::tool {
namespace {

/// Members whose scores are looked at, and pages of keys until that many were found.
constexpr uint64_t kScoresMin = 200;
constexpr int kPagesMax = 50;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// What units some scores seem to have.
class UnitVotes {
 public:
  void Add(std::string_view score) {
    Votes& votes = votes_[redis::GuessScoreUnit(redis::ParseScore(score).value_or(0))];
    if (votes.count++ == 0) votes.example = score;
    ++all_;
  }
  /// Of members and scores, one behind the other.
  void AddEachSecond(std::span<redisReply* const> pairs) {
    for (size_t at = 1; at < pairs.size(); at += 2) Add(redis::Reply::TextOf(*pairs[at]));
  }
  uint64_t all() const { return all_; }
  /// The unit of nearly all that are times, if most are. kInvalidArgument otherwise.
  Result<redis::ScoreUnit> Winner() const {
    if (all_ == 0) return redis::ScoreUnit::kNone;
    const auto none = votes_.find(redis::ScoreUnit::kNone);
    const uint64_t odd = none == votes_.end() ? 0 : none->second.count;
    if (2 * odd >= all_) {
      return Status::InvalidArgument("the score " + none->second.example +
                                     " is no time in s, ms or us, as " + std::to_string(odd) +
                                     " of " + std::to_string(all_) +
                                     " that were looked at: say --score-unit");
    }
    for (const auto& [unit, votes] : votes_) {
      if (unit != redis::ScoreUnit::kNone && votes.count * 10 >= (all_ - odd) * 9) return unit;
    }
    std::string examples;
    for (const auto& [unit, votes] : votes_) {
      if (unit == redis::ScoreUnit::kNone) continue;
      examples += (examples.empty() ? "" : " and ") + votes.example;
    }
    return Status::InvalidArgument("the scores " + examples +
                                   " are times in different units: say --score-unit");
  }

 private:
  struct Votes {
    uint64_t count = 0;
    std::string example;
  };
  std::map<redis::ScoreUnit, Votes> votes_;
  uint64_t all_ = 0;
};

/// Some values of those keys of a page that are hashes.
Status LookAtHashes(redis::Client& client, const KeyPage& page, const std::vector<size_t>& keys,
                    UnitVotes* votes) {
  if (keys.empty()) return {};
  redis::Pipeline pipeline;
  for (const size_t k : keys) {
    pipeline.Add({"HSCAN", page.keys[k], "0", "COUNT", "3"}, page.keys[k]);
  }
  auto replies = client.Run(pipeline);
  if (!replies.ok()) return replies.status();
  for (const redis::Reply& reply : *replies) {
    const auto parts = reply.elements();
    if (parts.size() == 2) votes->AddEachSecond(redis::Reply::ElementsOf(*parts[1]));
  }
  return {};
}

/// The unit of the scores of some of these keys. A few members of each: one whose score is no time
/// is refused by itself later, and decides nothing here.
Result<redis::ScoreUnit> GuessUnit(redis::Client& client, KeySource& keys,
                                   const redis::KeyTemplate& users) {
  redis::Pipeline pipeline;
  KeyPage page;
  UnitVotes votes;
  for (int i = 0; i < kPagesMax && votes.all() < kScoresMin; ++i) {
    auto more = keys.Next(&page);
    if (!more.ok()) return more.status();
    if (!*more) break;
    pipeline.Clear();
    for (const std::string& key : page.keys) {
      if (users.UserOf(key)) pipeline.Add({"ZRANGE", key, "-3", "-1", "WITHSCORES"}, key);
    }
    auto replies = client.Run(pipeline);
    if (!replies.ok()) return replies.status();
    std::vector<size_t> others;  // hashes among them
    size_t asked = 0;
    for (size_t k = 0; k < page.keys.size(); ++k) {
      if (!users.UserOf(page.keys[k])) continue;
      const redis::Reply& reply = (*replies)[asked++];
      if (reply.is_error()) others.push_back(k);
      votes.AddEachSecond(reply.elements());
    }
    const Status looked = LookAtHashes(client, page, others, &votes);
    if (!looked.ok()) return looked;
  }
  return votes.Winner();
}

/// What --redis and its companions name.
Result<RedisPlace> PlaceOf(const RedisFlags& flags) {
  const bool by_flag = !flags.url.empty();
  const std::string url = by_flag ? flags.url : Variable("SEENDB_REDIS");
  if (url.empty()) return Status::InvalidArgument("say where Redis is: --redis URL, or --rdb FILE");
  auto address = redis::ParseAddress(url, by_flag ? "--redis" : "SEENDB_REDIS");
  if (!address.ok()) return address.status();
  if (!flags.password_file.empty()) {
    auto password = ReadTokenFile(flags.password_file);
    if (!password.ok()) return password.status();
    address->password = *password;
  } else if (address->password.empty()) {
    address->password = Variable("SEENDB_REDIS_PASSWORD");
  }
  return RedisPlace{std::move(address).value(),
                    {.timeout = std::chrono::seconds(flags.timeout_s),
                     .files = {flags.ca, flags.certificate, "--redis-ca"}}};
}

}  // namespace

void AddRedisPlaceFlags(Command command, RedisFlags* flags) {
  const char* const group = "Redis";
  command
      .Add("--redis", flags->url,
           "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], rediss:// for TLS, or unix:PATH; any node "
           "of "
           "a cluster (the variable SEENDB_REDIS)")
      .TypeName("URL")
      .NotEmpty()
      .Group(group);
  command
      .Add("--rdb", flags->rdb,
           "In place of --redis: a dump, which a redis-server of our own reads on a copy")
      .TypeName("FILE")
      .NotEmpty()
      .Group(group);
  command
      .Add("--rdb-memory-mb", flags->rdb_memory_mb,
           "What the dump of --rdb may take of memory; the dump has to be trusted")
      .TypeName("MB")
      .Range(16, 16'777'216)
      .Group(group);
  command
      .Add("--redis-password-file", flags->password_file,
           "A file whose first line is the password (the variable SEENDB_REDIS_PASSWORD)")
      .TypeName("FILE")
      .NotEmpty()
      .Group(group);
  command
      .Add("--redis-ca", flags->ca,
           "Under rediss: the certificates to trust, PEM (else the system's)")
      .TypeName("FILE")
      .NotEmpty()
      .Group(group);
  command
      .Add("--redis-certificate", flags->certificate,
           "Under rediss: our own certificate and key, PEM")
      .TypeName("FILE")
      .NotEmpty()
      .Group(group);
  command.Add("--redis-timeout", flags->timeout_s, "Seconds to wait for an answer of Redis")
      .TypeName("SECONDS")
      .Range(1, 3'600)
      .Group(group);
}

void AddRedisKeyFlags(Command command, RedisFlags* flags) {
  const char* const group = "Keys";
  command
      .Add("--match", flags->match,
           "The keys of this pattern, found by SCAN (those that fit --user-from)")
      .TypeName("PATTERN")
      .NotEmpty()
      .Group(group);
  command
      .Add("--keys", flags->keys,
           "Or the keys of this file, a key per line; plain, gzip or zstd; - for standard input")
      .TypeName("FILE")
      .NotEmpty()
      .Group(group);
  command
      .Add("--keys-topic", flags->topic.topic,
           "Or the keys in this topic of Kafka, up to its present end")
      .TypeName("TOPIC")
      .NotEmpty()
      .Group(group);
  command.Add("--brokers", flags->topic.brokers, "With --keys-topic: where Kafka is")
      .TypeName("HOST:PORT")
      .Group(group);
  command
      .Add("--property", flags->topic.properties,
           "With --keys-topic: a setting of librdkafka: TLS, SASL, ... (may be repeated)")
      .TypeName("NAME=VALUE")
      .Group(group);
  command
      .Add("--user-from", flags->user_from,
           "Where the user's id is in a key: 'watched:{user}'; {user} is replaced as it stands, so "
           "'watched:{{user}}' fits keys with hash tags")
      .TypeName("TEMPLATE")
      .NotEmpty()
      .Group(group);
  command
      .Add("--form", flags->form,
           "Of keys that fit --user-from the users' ones: '*' (no separator in the id), '{*}:*' "
           "..., or any; needed where they have several forms")
      .TypeName("FORM")
      .NotEmpty()
      .Group(group);
  command
      .AddFlag("--hashes", flags->hashes,
               "Keys that hold a hash are of users too: its fields are items, its values times")
      .Group(group);
  command
      .Add("--score-unit", flags->score_unit,
           "What scores count since 1970: s, ms, us, none (no times), or auto: by their size")
      .OneOf({"auto", "s", "ms", "us", "none"})
      .Group(group);
  command.Add("--kind", flags->kind, "What members are: plays (watched) or impressions (served)")
      .OneOf({"plays", "impressions"})
      .Group(group);
  command
      .Add("--at", flags->at,
           "The time of members that have none (lists, sets, scores of unit none): ms since 1970, "
           "ISO 8601 (UTC, where it names no zone), or now: when the import began")
      .TypeName("TIME")
      .NotEmpty()
      .Group(group);
}

Result<std::unique_ptr<RedisSource>> RedisSource::Open(const RedisFlags& flags) {
  auto source = std::make_unique<RedisSource>();
  if (flags.rdb.empty()) {
    auto place = PlaceOf(flags);
    if (!place.ok()) return place.status();
    source->place_ = std::move(place).value();
    source->name_ = source->place_.address.ToText();
    return source;
  }
  if (!flags.url.empty()) return Status::InvalidArgument("--redis and --rdb exclude each other");
  const std::string temporary = Variable("TMPDIR");
  auto scratch = ScratchRedis::Start(flags.rdb, temporary.empty() ? "/tmp" : temporary,
                                     static_cast<uint64_t>(flags.rdb_memory_mb) << 20);
  if (!scratch.ok()) return scratch.status();
  source->scratch_ = std::move(scratch).value();
  source->place_ = {source->scratch_->address(),
                    {.timeout = std::chrono::seconds(flags.timeout_s)}};
  source->name_ = "rdb " + flags.rdb;
  return source;
}

Result<RedisMeaning> RedisMeaningOf(const RedisFlags& flags) {
  const int chosen = (flags.match.empty() ? 0 : 1) + (flags.keys.empty() ? 0 : 1) +
                     (flags.topic.topic.empty() ? 0 : 1);
  if (chosen > 1) {
    return Status::InvalidArgument("--match, --keys and --keys-topic exclude each other");
  }
  if (!flags.topic.topic.empty() && flags.topic.brokers.empty()) {
    return Status::InvalidArgument("--keys-topic: say where Kafka is: --brokers HOST:PORT");
  }
  if (flags.user_from.empty()) {
    return Status::InvalidArgument(
        "say where the user's id is in a key: --user-from 'watched:{user}'");
  }
  auto users = redis::KeyTemplate::Parse(flags.user_from, "--user-from");
  if (!users.ok()) return users.status();
  RedisMeaning meaning{std::move(users).value()};
  meaning.kind = flags.kind == "plays" ? EventKind::kPlays : EventKind::kImpressions;
  if (flags.score_unit != "auto") {
    auto unit = redis::ScoreUnitByName(flags.score_unit);
    if (!unit.ok()) return unit.status();
    meaning.unit = *unit;
  }
  if (flags.at == "now") {
    meaning.at_now = true;
    meaning.at_ms = SystemClock()->NowMs();
  } else if (!flags.at.empty()) {
    meaning.at_ms = times::ParseTimeMs(flags.at, {.unit = times::TimeUnit::kMillis});
    if (!meaning.at_ms) {
      return Status::InvalidArgument("--at " + flags.at + ": write ms since 1970, ISO 8601 or now");
    }
  }
  return meaning;
}

Result<std::unique_ptr<KeySource>> KeysOf(const RedisFlags& flags, const redis::KeyTemplate& users,
                                          redis::Client& client) {
  if (!flags.keys.empty()) return FileKeys(flags.keys);
  if (!flags.topic.topic.empty()) return TopicKeys(flags.topic);
  return ScanKeys(client, flags.match.empty() ? users.Pattern() : flags.match);
}

std::string KeysText(const RedisFlags& flags, const redis::KeyTemplate& users) {
  if (!flags.keys.empty()) return "file " + flags.keys;
  if (!flags.topic.topic.empty()) return "topic " + flags.topic.topic;
  return "match " + (flags.match.empty() ? users.Pattern() : flags.match);
}

bool IsReadOnce(const RedisFlags& flags) {
  std::error_code error;
  return flags.keys == "-" || (std::filesystem::exists(flags.keys, error) &&
                               !std::filesystem::is_regular_file(flags.keys, error));
}

Result<std::string> ResolveForm(const RedisFlags& flags, const RedisMeaning& meaning,
                                redis::Client& client) {
  constexpr std::string_view kAny = "any";
  constexpr size_t kKeysLookedAt = 10'000;
  if (flags.form == kAny) return std::string();
  if (!flags.form.empty()) return flags.form;
  if (IsReadOnce(flags)) return std::string();
  auto some = KeysOf(flags, meaning.users, client);
  if (!some.ok()) return some.status();
  KeyForms forms;
  size_t looked_at = 0;
  KeyPage page;
  for (int i = 0; i < kPagesMax && looked_at < kKeysLookedAt; ++i) {
    const auto more = (*some)->Next(&page);
    if (!more.ok()) return more.status();
    if (!*more || InterruptedBy() != 0) break;
    for (const std::string& key : page.keys) {
      if (const auto user = meaning.users.UserOf(key)) forms.Add(key, *user);
    }
    looked_at += page.keys.size();
  }
  if (forms.size() <= 1) return forms.First();
  return Status::InvalidArgument("keys of " + std::to_string(forms.size()) + " forms fit " +
                                 meaning.users.ToText() + ": " + forms.ToText() +
                                 "; say which are users' by --form, as --form '" + forms.First() +
                                 "', or --form any");
}

Result<redis::ScoreUnit> ResolveUnit(const RedisFlags& flags, const RedisMeaning& meaning,
                                     redis::Client& client) {
  if (meaning.unit) return *meaning.unit;
  if (IsReadOnce(flags)) {
    return Status::InvalidArgument("--keys " + flags.keys +
                                   ": it can be read once alone; say --score-unit");
  }
  auto some = KeysOf(flags, meaning.users, client);
  if (!some.ok()) return some.status();
  return GuessUnit(client, **some, meaning.users);
}

Status NoKeyFits(const redis::KeyTemplate& users, const std::string& source) {
  return Status::NotFound("no key of " + source + " was read as one of " + users.ToText() +
                          ": are --user-from, --match and the number of the database "
                          "(redis://HOST:PORT/N) right?");
}

}  // namespace seendb::tool
