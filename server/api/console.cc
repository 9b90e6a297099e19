// GET /console, and the files that its page asks for. They hold no data: the page asks the other
// routes for it, with the token that a person types in.

#include "api/console.h"

#include "api/routes.h"

namespace seendb::api {
namespace {

void SendConsoleFile(Call& call, std::string_view name) {
  const ConsoleFile* const file = FindConsoleFile(name);
  if (file == nullptr) {
    return call.Refuse(Status::NotFound("the console has no such file", "/file"));
  }
  call.response.content_type = file->type;
  call.response.headers = kPageHeaders;
  call.response.body = file->text;
}

}  // namespace

void HandleConsole(Call& call) { SendConsoleFile(call, "index.html"); }

void HandleConsoleFile(Call& call) { SendConsoleFile(call, call.plan.arguments.front()); }

}  // namespace seendb::api
