#include "membership/prober.h"

#include <memory>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "cluster/node_report.h"

namespace seendb::membership {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using Error = boost::system::error_code;

int64_t WallMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// One question. It ends within the timeout whatever the other side does.
class Probe : public std::enable_shared_from_this<Probe> {
 public:
  Probe(asio::io_context& context, const ProbeTarget& target, const std::string& secret,
        ProbeResult* result)
      : stream_(context), resolver_(context), target_(target), result_(result) {
    request_.method(beast::http::verb::get);
    request_.target("/internal/status");
    request_.version(11);
    request_.set(beast::http::field::host, target.host + ":" + target.port);
    request_.set(beast::http::field::authorization, "Bearer " + secret);
    request_.set(beast::http::field::connection, "close");
    parser_.body_limit(cluster::kNodeReportBytesMost);
  }

  void Start(std::chrono::milliseconds timeout) {
    stream_.expires_after(timeout);
    resolver_.async_resolve(target_.host, target_.port,
                            [self = shared_from_this()](Error failed, auto found) {
                              if (failed) return self->End(failed);
                              self->Connect(found);
                            });
  }

 private:
  void Connect(const tcp::resolver::results_type& found) {
    stream_.async_connect(found, [self = shared_from_this()](Error failed, const auto&) {
      if (failed) return self->End(failed);
      self->Ask();
    });
  }
  void Ask() {
    asked_ms_ = WallMs();
    beast::http::async_write(stream_, request_, [self = shared_from_this()](Error failed, size_t) {
      if (failed) return self->End(failed);
      self->Read();
    });
  }
  void Read() {
    beast::http::async_read(
        stream_, buffer_, parser_,
        [self = shared_from_this()](Error failed, size_t) { self->End(failed); });
  }
  void End(Error failed) {
    if (failed) {
      const bool refused = failed == asio::error::connection_refused;
      result_->kind = refused ? ProbeResult::Kind::kRefused : ProbeResult::Kind::kMissed;
      result_->why = failed.message();
      return;
    }
    const auto& answer = parser_.get();
    if (answer.result_int() != 200) {
      result_->why = "answers " + std::to_string(answer.result_int());
      return;
    }
    result_->kind = ProbeResult::Kind::kAnswered;
    result_->body = answer.body();
    result_->asked_at_ms = asked_ms_ + (WallMs() - asked_ms_) / 2;
  }

  beast::tcp_stream stream_;
  tcp::resolver resolver_;
  const ProbeTarget& target_;
  ProbeResult* const result_;
  beast::http::request<beast::http::empty_body> request_;
  beast::http::response_parser<beast::http::string_body> parser_;
  beast::flat_buffer buffer_;
  int64_t asked_ms_ = 0;
};

}  // namespace

std::vector<ProbeResult> ProbeAll(const std::vector<ProbeTarget>& targets,
                                  const std::string& secret, std::chrono::milliseconds timeout) {
  std::vector<ProbeResult> results(targets.size());
  asio::io_context context;
  for (size_t i = 0; i < targets.size(); ++i) {
    results[i].why = "no answer in time";
    std::make_shared<Probe>(context, targets[i], secret, &results[i])->Start(timeout);
  }
  // A name that the system resolves for longer is not waited for.
  context.run_for(timeout + std::chrono::milliseconds(100));
  return results;
}

ProbeTarget TargetOf(const std::string& node, const std::string& url) {
  const size_t begin = url.find("://") + 3, colon = url.rfind(':');
  std::string host = url.substr(begin, colon - begin);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return {node, std::move(host), url.substr(colon + 1)};
}

}  // namespace seendb::membership
