#include "discovery/consul_agent.h"

#include <utility>

#include "base/whole_file.h"

namespace seendb::discovery {
namespace {

constexpr std::chrono::seconds kStep{2};
constexpr uint64_t kAnswerBytesMost = 1u << 20;
constexpr size_t kToldMost = 200;
constexpr unsigned kOk = 200, kNotFound = 404;

}  // namespace

ConsulAgent::ConsulAgent(const ops::ConsulConfig& config)
    : target_(*net::TargetOf(config.url)),
      token_file_(config.token_file),
      connection_(target_, {.ca = config.ca, .named_by = "consul.ca"}, kStep) {}

Result<ConsulAgent::Answer> ConsulAgent::Ask(const char* method, const std::string& target,
                                             const std::string& body) {
  net::HttpConnection::Request request;
  request.method_string(method);
  request.target(target);
  request.version(11);
  request.set(boost::beast::http::field::host, target_.Authority());
  if (!body.empty()) request.set(boost::beast::http::field::content_type, "application/json");
  if (!token_file_.empty()) {
    const Result<std::string> token = ReadFirstLine(token_file_);
    if (!token.ok()) return token.status();
    request.set("X-Consul-Token", *token);
  }
  request.body() = {body.data(), body.size()};
  request.prepare_payload();
  if (Status open = connection_.Open(); !open.ok()) return open;
  net::HttpConnection::Parser parser;
  if (const auto error = connection_.Exchange(request, kAnswerBytesMost, &parser)) {
    return Status::Unavailable("the agent does not answer: " + error.message());
  }
  return Answer{parser.get().result_int(), std::move(parser.get().body())};
}

Status ConsulAgent::Done(const Result<Answer>& answer) const {
  if (!answer.ok()) return answer.status();
  if (answer->status == kOk) return {};
  return Status::Unavailable("the agent answers " + std::to_string(answer->status) + ": " +
                             answer->body.substr(0, kToldMost));
}

Status ConsulAgent::Register(const ConsulService& service) {
  return Done(Ask("PUT", "/v1/agent/service/register?replace-existing-checks=true", service.json));
}

Result<bool> ConsulAgent::Has(const std::string& id) {
  const Result<Answer> answer = Ask("GET", "/v1/agent/service/" + id, "");
  if (answer.ok() && answer->status == kNotFound) return false;
  if (Status done = Done(answer); !done.ok()) return done;
  return true;
}

Status ConsulAgent::Deregister(const std::string& id) {
  const Result<Answer> answer = Ask("PUT", "/v1/agent/service/deregister/" + id, "");
  if (answer.ok() && answer->status == kNotFound) return {};
  return Done(answer);
}

}  // namespace seendb::discovery
