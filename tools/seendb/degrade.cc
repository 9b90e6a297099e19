// seendb degrade: sets by hand how much a loaded server leaves out, and what it refuses.

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "report_json.h"
#include "session.h"

namespace seendb::tool {
namespace {

struct Wanted {
  std::string level = "auto";
  std::vector<std::string> refuse;
  uint64_t for_s = 3'600;
};

/// The server checks what it is sent: a level that is no number goes as the text that it is.
Json BodyOf(const Wanted& wanted) {
  Json body = {{"level", wanted.level}, {"refuse", wanted.refuse}, {"for_s", wanted.for_s}};
  uint64_t level = 0;
  const char* const end = wanted.level.data() + wanted.level.size();
  const auto [stop, error] = std::from_chars(wanted.level.data(), end, level);
  if (error == std::errc() && stop == end) body["level"] = level;
  return body;
}

Status Degrade(const Session& session, const Wanted& wanted) {
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  auto answer = (*server)->Call(
      {.method = "POST", .target = "/admin/degrade", .body = BodyOf(wanted).dump()});
  if (!answer.ok()) return answer.status();
  if (session.json) return PrintJson(*answer);
  std::string text = "level " + std::to_string(CountOf(*answer, "level"));
  if (wanted.level == "auto") {
    text += ", as the load has it";
  } else {
    text += " for " + std::to_string(CountOf(*answer, "for_s")) + " s";
  }
  for (const Json& priority : ListOf(*answer, "refuse")) {
    text += "; refuses " + priority.get<std::string>();
  }
  return Print(text + "\n");
}

}  // namespace

void AddDegrade(Command app, Session& session) {
  auto wanted = std::make_shared<Wanted>();
  Command command = AddCommand(
      app, session, "degrade",
      "Set by hand how much a loaded server leaves out of answers, and which requests it refuses",
      Takes::kServer, [&session, wanted] { return Degrade(session, *wanted); });
  command.Add("level", wanted->level, "0 (whole answers) to 5, or auto: as the load has it")
      .Required()
      .TypeName("LEVEL");
  command.Add("--refuse", wanted->refuse, "Refuse requests of this priority; may be repeated")
      .TypeName("PRIORITY");
  command.Add("--for", wanted->for_s, "How long, up to 604800; then the load decides (3600)")
      .TypeName("SECONDS");
  command.Examples({"seendb degrade 3 --refuse low --for 7200", "seendb degrade auto"});
}

}  // namespace seendb::tool
