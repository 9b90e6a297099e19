// Finds the route of a path. For a path without a route it says which route may have been meant.

#include <algorithm>
#include <vector>

#include "api/routes.h"
#include "base/suggest.h"

namespace seendb::api {
namespace {

/// Whether `path` is `pattern`, whose parts in braces stand for anything but nothing; then
/// `*arguments` are those.
bool Matches(std::string_view pattern, std::string_view path, PathArguments* arguments) {
  arguments->count = 0;
  while (true) {
    const size_t brace = pattern.find('{');
    const std::string_view fixed = pattern.substr(0, brace);
    if (brace == std::string_view::npos) return path == fixed;
    if (!path.starts_with(fixed)) return false;
    path.remove_prefix(fixed.size());
    pattern.remove_prefix(pattern.find('}') + 1);
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty()) return false;
    arguments->parts[arguments->count++] = part;
    path.remove_prefix(part.size());
  }
}

}  // namespace

std::string RouteLabel(const Route& route) {
  return std::string(http::MethodName(route.method)).append(" ").append(route.path);
}

int FindRoute(http::Method method, std::string_view path, PathArguments* arguments,
              std::string* allow) {
  if (method == http::Method::kHead) method = http::Method::kGet;
  allow->clear();
  std::string_view found;  // the first path that fits is the one: names hide what varies
  for (size_t i = 0; i < Routes().size(); ++i) {
    const Route& route = Routes()[i];
    if (!found.empty() && route.path != found) continue;
    if (!Matches(route.path, path, arguments)) continue;
    found = route.path;
    if (route.method == method) return static_cast<int>(i);
    if (!allow->empty()) *allow += ", ";
    *allow += http::MethodName(route.method);
    if (route.method == http::Method::kGet) *allow += ", HEAD";
  }
  return -1;
}

std::string NoSuchRoute(std::string_view path) {
  std::string said = "no such route: " + std::string(path);
  const std::string_view whole = path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  const std::string_view first = whole.substr(0, whole.find('/', 1));
  std::vector<std::string_view> paths, beginnings;
  for (const Route& route : Routes()) {
    PathArguments arguments;
    if (whole != path && Matches(route.path, whole, &arguments)) {
      return said + "; it is told without the slash at its end";
    }
    paths.push_back(route.path);
    beginnings.push_back(route.path.substr(0, route.path.find('/', 1)));
  }
  std::string_view meant;
  for (size_t i = 0; i < paths.size() && meant.empty(); ++i) {  // "/stats" of "/admin/stats"
    if (whole.size() > 1 && paths[i].ends_with(whole)) meant = paths[i];
  }
  if (meant.empty()) meant = Nearest(whole, paths);
  if (meant.empty() && first != whole) {  // "/user/u1": the parts that vary fit nothing
    const std::string_view beginning = Nearest(first, beginnings);
    for (size_t i = 0; i < paths.size() && !beginning.empty() && meant.empty(); ++i) {
      const std::string_view rest =
          paths[i].substr(std::min(beginnings[i].size(), paths[i].size()));
      const bool as_long = std::count(rest.begin(), rest.end(), '/') ==
                           std::count(whole.begin() + 1, whole.end(), '/');
      if (beginnings[i] == beginning && as_long) meant = paths[i];
    }
  }
  if (meant.empty()) return said + "; GET /openapi.json and /openapi-admin.json list the routes";
  return said.append("; did you mean `").append(meant).append("`?");
}

Status PathId(const http::Plan& plan, size_t index, std::string_view field, IdRef* id) {
  *id = IdRef(plan.arguments.at(index));
  const Status status = id->Validate();
  if (status.ok()) return status;
  return Status::InvalidArgument(std::string(status.message()), std::string(field));
}

}  // namespace seendb::api
