#include "ops/host_port_key.h"

#include "http/listener.h"

namespace seendb::ops {

Setter HostPort(std::string* to) {
  const auto set = [=](const Json& value) {
    if (!value.is_string() || !http::ParseHostPort(value.get<std::string>())) {
      return Status::InvalidArgument("must look like \"127.0.0.1:7373\"");
    }
    *to = value.get<std::string>();
    return Status::Ok();
  };
  return Setter(set, Written::kText).Showing([to] { return Json(*to); });
}

}  // namespace seendb::ops
