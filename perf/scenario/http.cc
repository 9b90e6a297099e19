// HTTP: POST /filter of 5,000 ids of 25 bytes, 20% seen, users with 4 months of 3,300 items, to a
// seendb-server of one thread; one thread of load, 4 keep-alive connections, one request on the way
// each. The same ids as JSON and, where the server takes it, in binary (text ids and integers). The
// peer: a client of one thread that asks its Redis directly (ZRANGE of the whole set and a hash
// set, or ZMSCORE), without any HTTP or JSON in between, its ids 25 bytes too.
//
// Plays in: NDJSON documents of 2,000 plays, random users of 200,000.

#include <cstring>
#include <functional>

#include "load/load_generator.h"
#include "load/server_process.h"
#include "scenario/contest.h"
#include "seams.h"
#include "seendb/engine.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kItemsAMonth = 3'300;
constexpr int kDocumentPlays = 2'000;

// The same users' plays by text ids (collection "default") and by integers ("numbers").
void MakeDatabase(const std::string& path, uint64_t users) {
  ManualClock clock(kStartMs);
  Options options;
  options.shards = 4;
  options.background = false;
  const Seams seams{&clock, nullptr};
  auto opened = Engine::Open(path, options, seams);
  Check(opened.status());
  Engine& engine = **opened;
  Check(engine.PutCollection("numbers", {}));
  for (int month = 0; month < kWindow; ++month) {
    clock.Set(kMonthBeginMs[static_cast<size_t>(month)] + 5 * kDayMs);
    for (uint64_t user = 0; user < users; ++user) {
      std::vector<std::string> names;
      std::vector<Play> texts, numbers;
      names.reserve(kItemsAMonth);
      for (const uint64_t item : PlayedItems(user, month, 0, kItemsAMonth)) {
        names.push_back(LongText(item));
        texts.push_back({IdRef(user), IdRef(names.back()), std::nullopt});
        numbers.push_back({IdRef(user), IdRef(item), std::nullopt});
      }
      Check(engine.RecordPlays(texts).status());
      Check(engine.RecordPlays(numbers, {.collection = "numbers"}).status());
    }
    Check(engine.Drain());
    Check(engine.SealClosed());
  }
  Check(engine.Compact());
}

HttpRequest JsonQuestion(const Question& question) {
  HttpRequest request{"/filter", "application/json", "", R"({"user":")" + question.user_text};
  request.body += R"(","items":[)";
  for (size_t i = 0; i < question.numbers.size(); ++i) {
    request.body.append(i == 0 ? "\"" : ",\"").append(LongText(question.numbers[i])).append("\"");
  }
  request.body += "]}";
  return request;
}

template <typename Number>
void AppendLittleEndian(Number number, std::string* out) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  out->append(bytes, sizeof(bytes));
}

HttpRequest BinaryTextQuestion(const Question& question) {
  HttpRequest request{"/filter?user=" + question.user_text + "&collection=default&ids=string",
                      "application/octet-stream", "application/octet-stream", ""};
  for (const uint64_t item : question.numbers) {
    const std::string text = LongText(item);
    AppendLittleEndian(static_cast<uint32_t>(text.size()), &request.body);
    request.body += text;
  }
  return request;
}

HttpRequest BinaryNumberQuestion(const Question& question) {
  HttpRequest request{"/filter?user=" + question.user_text + "&collection=numbers&ids=u64",
                      "application/octet-stream", "application/octet-stream", ""};
  for (const uint64_t item : question.numbers) AppendLittleEndian(item, &request.body);
  return request;
}

struct Form {
  const char* name;
  HttpRequest (*make)(const Question&);
};
constexpr Form kForms[] = {{"json", JsonQuestion},
                           {"binary-string", BinaryTextQuestion},
                           {"binary-u64", BinaryNumberQuestion}};

// Questions whose texts are the long ids.
std::vector<Question> LongQuestions(uint64_t users) {
  std::vector<Question> questions = Questions(users, {});
  for (Question& question : questions) {
    for (size_t i = 0; i < question.texts.size(); ++i) {
      question.texts[i] = LongText(question.numbers[i]);
    }
  }
  return questions;
}

struct Speed {
  double rate = 0;
  double latency_us = 0;
};
// One way to get answers.
struct Course {
  std::string peer, form;
  std::function<Speed(double seconds)> run;
};

Speed Quantity(const std::vector<double>& us) {
  double sum = 0;
  for (const double one : us) sum += one;
  return {static_cast<double>(us.size()) / sum * 1e6, Quantile(us, 0.5)};
}

Speed Loaded(uint16_t port, const std::vector<std::string>& requests, double seconds) {
  const LoadResult result = RunLoad({port, 4, seconds}, requests);
  if (result.failures != 0) Fail("HTTP: status " + std::to_string(result.last_failure));
  return {static_cast<double>(result.answers) / result.seconds, Quantile(result.latency_us, 0.5)};
}

// Adds a form that the server takes; the trial warms it up.
void AddForm(const Form& form, uint16_t port, const std::vector<Question>& questions,
             std::vector<Course>* courses, Report* report) {
  std::vector<std::string> requests;
  requests.reserve(questions.size());
  for (const Question& question : questions) requests.push_back(Encode(form.make(question)));
  const LoadResult trial = RunLoad({port, 4, 0.2}, requests);
  if (trial.failures != 0) {
    report->Note("http", std::string(form.name) + " is absent: the server answers " +
                             std::to_string(trial.last_failure));
    return;
  }
  courses->push_back({"seendb", form.name, [requests = std::move(requests), port](double seconds) {
                        return Loaded(port, requests, seconds);
                      }});
}

// The sorted sets, with the same users and ids.
std::vector<Contestant> InviteRedis(const Settings& settings, const std::string& folder,
                                    uint64_t users, Report* report) {
  static constexpr std::string_view kPeers[] = {"redis-zset-range", "redis-zset-scores"};
  PeerOptions options;
  options.folder = folder;
  options.long_ids = true;
  std::vector<Contestant> contestants = Invite(settings, "http", kPeers, options, report);
  Plays plays;
  plays.users = users;
  plays.items_a_month = Everybody(kItemsAMonth);
  for (Contestant& contestant : contestants) Load(contestant.peer.get(), plays);
  return contestants;
}

// NDJSON documents of plays.
std::vector<std::string> PlayDocuments() {
  Random random(3);
  std::vector<std::string> requests;
  for (int d = 0; d < 20; ++d) {
    HttpRequest request{"/plays", "application/x-ndjson", "", ""};
    for (int i = 0; i < kDocumentPlays; ++i) {
      request.body += R"({"user":")" + std::to_string(random.Below(200'000)) + R"(","item":")" +
                      LongText(random.Below(uint64_t{1} << 30)) + "\"}\n";
    }
    requests.push_back(Encode(request));
  }
  return requests;
}

void MeasurePlays(const Settings& settings, uint16_t port, Report* report) {
  const std::vector<std::string> documents = PlayDocuments();
  for (int round = 0; round < settings.rounds; ++round) {
    const Speed speed = Loaded(port, documents, settings.quick ? 0.3 : 1.2);
    report->Add({"http",
                 {{"what", "plays in"}, {"form", "ndjson"}},
                 "seendb",
                 "plays_per_s",
                 Better::kMore},
                speed.rate * kDocumentPlays);
  }
}

}  // namespace

void RunHttp(const Settings& settings, Report* report) {
  if (settings.server.empty()) {
    report->Note("http", "absent: no server program was named (--server)");
    return;
  }
  const TemporaryFolder folder;
  const uint64_t users = settings.quick ? 10 : 50;
  const std::string database = folder.path() + "/db";
  MakeDatabase(database, users);
  const int64_t now_ms = kMonthBeginMs[kWindow - 1] + 6 * kDayMs;
  const ServerProcess server(
      settings.server, {"--db", database, "--listen", "127.0.0.1:0", "--threads", "1", "--clock",
                        "manual:" + std::to_string(now_ms)});
  const std::vector<Question> questions = LongQuestions(users);
  const double seconds = settings.quick ? 0.3 : 1.2;
  std::vector<Course> courses;
  for (const Form& form : kForms) AddForm(form, server.port(), questions, &courses, report);
  std::vector<Contestant> redis = InviteRedis(settings, folder.path(), users, report);
  for (Contestant& contestant : redis) {
    std::shared_ptr<Session> session = contestant.peer->Connect();
    CheckAnswers(contestant.name, session.get(), questions);
    courses.push_back({contestant.name, "redis", [session, &questions](double s) {
                         return Quantity(TimeAnswers(session.get(), questions, s));
                       }});
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (const Course& course : courses) {
      const Speed speed = course.run(seconds);
      const Case where = {{"what", "filter 5,000 ids"}, {"form", course.form}};
      report->Add({"http", where, course.peer, "requests_per_s", Better::kMore}, speed.rate);
      report->Add({"http", where, course.peer, "latency_us"}, speed.latency_us);
    }
  }
  MeasurePlays(settings, server.port(), report);
}

}  // namespace seendb::perf
