#include "api/origin_check.h"

#include <algorithm>
#include <array>
#include <climits>

#include <arpa/inet.h>
#include <unistd.h>

#include "base/utf8.h"
#include "http/host.h"

namespace seendb::api {
namespace {

constexpr size_t kShownBytes = 100;  // of what a client sent, in an error

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string> Sorted(const std::vector<std::string>& texts) {
  std::vector<std::string> sorted;
  sorted.reserve(texts.size());
  for (const std::string& text : texts) sorted.push_back(Lower(text));
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Of "host:port" or "[address]:port": without the port, and without the dot that ends a full name.
std::string_view WithoutPort(std::string_view authority) {
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    return end == std::string_view::npos ? authority : authority.substr(0, end + 1);
  }
  std::string_view host = authority.substr(0, authority.find(':'));
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (inet_pton(AF_INET, host.c_str(), address.data()) == 1) return true;
  if (!host.starts_with('[') || !host.ends_with(']')) return false;
  return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), address.data()) == 1;
}

// The authority of an absolute target counts before Host.
std::string AuthorityAskedFor(const http::RequestHead& head) {
  return Lower(http::AuthorityOf(head.target).value_or(head.host));
}

}  // namespace

OriginCheck::OriginCheck(const std::vector<std::string>& hosts,
                         const std::vector<std::string>& origins, std::string_view machine)
    : hosts_(Sorted(hosts)), origins_(Sorted(origins)) {
  any_host_ = std::binary_search(hosts_.begin(), hosts_.end(), "*");
  if (machine.empty()) return;
  hosts_.push_back(Lower(machine));
  std::sort(hosts_.begin(), hosts_.end());
}

bool OriginCheck::IsOurs(std::string_view authority) const {
  const std::string host(WithoutPort(authority));
  if (any_host_ || host.find('.') == std::string::npos) {
    return any_host_ || !host.starts_with('[') || IsAddress(host);
  }
  for (const std::string_view suffix : {".localhost", ".local", ".internal", ".cluster.local"}) {
    if (host.ends_with(suffix)) return true;
  }
  return IsAddress(host) || std::binary_search(hosts_.begin(), hosts_.end(), host) ||
         IsOfCertificate(host);
}

bool OriginCheck::IsOfCertificate(const std::string& host) const {
  const MutexLock lock(mutex_);
  const auto has = [this](const std::string& name) REQUIRES(mutex_) {
    return std::binary_search(certificate_names_.begin(), certificate_names_.end(), name);
  };
  return has(host) || has("*" + host.substr(std::min(host.find('.'), host.size())));
}

void OriginCheck::SetCertificateNames(const std::vector<std::string>& names) {
  std::vector<std::string> sorted = Sorted(names);
  const MutexLock lock(mutex_);
  certificate_names_ = std::move(sorted);
}

bool OriginCheck::IsForeign(const http::RequestHead& head, std::string_view authority) const {
  if (!head.origin.empty()) {
    const std::string origin = Lower(head.origin);
    if (std::binary_search(origins_.begin(), origins_.end(), origin)) return false;
    const bool secure = head.connection != nullptr && head.connection->secure;
    const std::string_view usual = secure ? ":443" : ":80";  // browsers leave it out
    std::string_view own = authority;
    if (own.ends_with(usual)) own.remove_suffix(usual.size());
    if (origin != (secure ? "https://" : "http://") + std::string(own)) return true;
  }
  return head.fetch_site == "cross-site" || head.fetch_site == "same-site";
}

std::optional<http::Error> OriginCheck::Refuse(const http::RequestHead& head, bool page) const {
  const std::string authority = AuthorityAskedFor(head);
  if (!IsOurs(authority)) {
    return http::Error{403, "unknown_host",
                       "the Host \"" + std::string(Utf8Prefix(authority, kShownBytes)) +
                           "\" may be anybody's public name; if it is this server's, add it to "
                           "the setting `hosts`"};
  }
  const bool linked = page && head.origin.empty();  // a browser that follows a link sends none
  if (linked || !IsForeign(head, authority)) return {};
  return http::Error{
      403, "foreign_origin",
      head.origin.empty()
          ? "a page of another site sent this (Sec-Fetch-Site: " + head.fetch_site + ")"
          : "a page of another origin sent this: \"" +
                std::string(Utf8Prefix(head.origin, kShownBytes)) +
                "\"; if it may, add it to the setting `origins`"};
}

std::string MachineName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace seendb::api
