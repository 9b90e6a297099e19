// server/api/origin_check.h: refuses what a web page of somebody else makes a browser send. The
// server takes whoever reaches its port for a friend, and a browser inside the network reaches it:
// by a form or a script of a foreign page (then the request says where it comes from), or by a
// public name that its owner points at this machine (DNS rebinding: then the Host is that name).
//
// A name is taken for ours if nobody can register it: IP addresses, names without a dot, names
// below .localhost, .local, .internal and .cluster.local, this machine's own name; and those of
// the setting `hosts` and of the certificate. An origin is ours if it is the request's own scheme,
// host and port, or in the setting `origins`.
//
// Source: OWASP, "Cross-Site Request Forgery Prevention" (Fetch Metadata, verifying origin).
// Threads: any.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "http/error.h"
#include "http/message.h"

namespace seendb::api {

/// See the head of this file.
class OriginCheck {
 public:
  /// `hosts`: further names, ["*"] for any; `origins`: further origins, as browsers send them.
  /// `machine`: this machine's own name.
  OriginCheck(const std::vector<std::string>& hosts, const std::vector<std::string>& origins,
              std::string_view machine);

  /// The certificate is for these names; "*.name" stands for one name before the dot.
  void SetCertificateNames(const std::vector<std::string>& names);

  /// The refusal (403 foreign_origin or unknown_host); nothing where the request may go on.
  /// `page`: of a page without data, to which links of other sites may lead.
  std::optional<http::Error> Refuse(const http::RequestHead& head, bool page = false) const;

 private:
  bool IsOurs(std::string_view host) const;
  bool IsOfCertificate(const std::string& host) const;
  bool IsForeign(const http::RequestHead& head, std::string_view authority) const;

  std::vector<std::string> hosts_;    // in lower case, sorted
  std::vector<std::string> origins_;  // likewise
  bool any_host_ = false;
  mutable Mutex mutex_{LockRank::kLeaf};
  std::vector<std::string> certificate_names_ GUARDED_BY(mutex_);  // in lower case, sorted
};

/// The name this machine gives itself.
std::string MachineName();

}  // namespace seendb::api
