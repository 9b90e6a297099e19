#include "import_notes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "report_json.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

/// Users of one request.
constexpr size_t kUsersAtOnce = 5'000;

class FolderNotes final : public ImportNotes {
 public:
  FolderNotes(Engine& engine, std::shared_ptr<migrated::ImportedUsers> users)
      : engine_(engine), users_(std::move(users)) {}

  Status Note(const std::vector<std::string>& users) override {
    // Noted before, a power loss could take the plays and leave the note.
    if (Status synced = engine_.Sync(); !synced.ok()) return synced;
    std::vector<IdRef> ids;
    ids.reserve(users.size());
    for (const std::string& user : users) ids.emplace_back(user);
    return users_->Add(ids);
  }
  Status NoteEverybody() override {
    const Status synced = engine_.Sync();
    return synced.ok() ? users_->AddEverybody() : synced;
  }

 private:
  Engine& engine_;
  const std::shared_ptr<migrated::ImportedUsers> users_;
};

class ServerNotes final : public ImportNotes {
 public:
  ServerNotes(std::unique_ptr<HttpClient> server, std::string collection, std::string key)
      : server_(std::move(server)), collection_(std::move(collection)), key_(std::move(key)) {}

  Status Note(const std::vector<std::string>& users) override {
    for (size_t begin = 0; begin < users.size(); begin += kUsersAtOnce) {
      const auto some =
          std::span(users).subspan(begin, std::min(kUsersAtOnce, users.size() - begin));
      const Status sent = Send({{"collection", collection_},
                                {"key", key_},
                                {"users", std::vector<std::string>(some.begin(), some.end())}});
      if (!sent.ok()) return sent;
    }
    return {};
  }
  Status NoteEverybody() override {
    const Status sent = Send({{"collection", collection_},
                              {"key", key_},
                              {"users", Json::array()},
                              {"everybody", true}});
    // An older server refuses the member, and lets a migration be finished without it.
    return sent.code() == StatusCode::kInvalidArgument ? Status() : sent;
  }

 private:
  Status Send(const Json& body) {
    const std::string text = body.dump();
    return server_->Call({.method = "POST", .target = "/admin/migration/imported", .body = text})
        .status();
  }

  const std::unique_ptr<HttpClient> server_;
  const std::string collection_, key_;
};

/// The server's migration of the collection; null: its settings have none.
const Json* MigrationOf(const Json& report, const std::string& collection) {
  for (const Json& one : ListOf(report, "collections")) {
    if (TextOf(one, "collection") == collection) return &one;
  }
  return nullptr;
}

/// Why nothing is to be noted of a migration; empty: it is.
std::string WhyOff(const Json* migration, const std::string& collection, const std::string& key) {
  if (migration == nullptr) return "the server's settings have no migration of " + collection;
  if (TextOf(*migration, "phase") == "finished") return "the server's migration is finished";
  const std::string keys = TextOf(*migration, "key");
  return keys == key ? "" : "the server's migration is of the keys " + keys;
}

}  // namespace

Result<ImportNoter> ImportNoter::Open(Database& database, const Session& session,
                                      const std::string& key) {
  ImportNoter noter;
  const std::string collection = CollectionOf(session);
  if (Engine* const engine = database.engine()) {
    auto opened = migrated::ImportedUsers::Open(session.db, collection, key);
    if (opened.status().code() == StatusCode::kIncompatible) {
      noter.off_ = opened.status().message();
      return noter;
    }
    if (!opened.ok()) return opened.status();
    noter.notes_ = (*opened)->id();
    noter.make_ = [engine, users = std::shared_ptr(std::move(opened).value())]()
        -> Result<std::unique_ptr<ImportNotes>> {
      return std::unique_ptr<ImportNotes>(std::make_unique<FolderNotes>(*engine, users));
    };
    return noter;
  }
  auto report = database.server()->Call({.target = "/admin/migration"});
  if (!report.ok()) {
    const StatusCode code = report.status().code();
    if (code == StatusCode::kUnavailable || code == StatusCode::kBusy) return report.status();
    noter.off_ =
        "the server does not show its migrations: " + std::string(report.status().message());
    return noter;
  }
  const Json* const migration = MigrationOf(*report, collection);
  noter.off_ = WhyOff(migration, collection, key);
  if (migration != nullptr) noter.notes_ = TextOf(*migration, "notes");
  noter.make_ = [&session, collection, key]() -> Result<std::unique_ptr<ImportNotes>> {
    auto server = OpenServer(session);
    if (!server.ok()) return server.status();
    return std::unique_ptr<ImportNotes>(
        std::make_unique<ServerNotes>(std::move(server).value(), collection, key));
  };
  return noter;
}

Result<std::unique_ptr<ImportNotes>> ImportNoter::Make() const {
  if (!off_.empty()) return std::unique_ptr<ImportNotes>();
  return make_();
}

}  // namespace seendb::tool
