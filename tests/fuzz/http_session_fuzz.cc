// Arbitrary bytes to a session over a socket: it never fails, says nothing but whole answers, one
// a request and in order, and leaves nothing behind, however the peer ends; and what it says does
// not depend on where the bytes were cut. The service behind it does what the path's first letter
// says, so that every way through a session is taken.
//
// Lawful differences between two cuts: `100 Continue` comes only where the body was not there yet;
// a streamed answer may have begun before its request turns out broken; and a head may be refused
// before its end has come, or not yet. The last two end the comparison.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/answers.h"
#include "fuzz/input.h"
#include "fuzz/session_driver.h"

namespace {

using namespace seendb::http;
using seendb::fuzz::Answer;
using seendb::fuzz::Check;
using seendb::fuzz::Ending;

/// Answers at once, or collects; fails at the first '!' where `may_fail`.
class Lines final : public BodyStream {
 public:
  Lines(bool at_once, bool may_fail) : at_once_(at_once), may_fail_(may_fail) {}
  size_t Take(std::string_view bytes, bool last, std::string* out) override {
    Check(!ended_ && !failed_);
    ended_ = last;
    // Whole lines, as the streams of the API take them.
    const size_t taken = last ? bytes.size() : bytes.rfind('\n') + 1;
    failed_ = may_fail_ && bytes.substr(0, taken).find('!') != std::string_view::npos;
    (at_once_ ? *out : collected_).append(bytes.substr(0, taken));
    return taken;
  }
  bool AnswersAsItGoes() const override { return at_once_; }
  bool Failed() const override { return failed_; }
  size_t HeldBytes() const override { return collected_.capacity(); }
  void Finish(Response* response) override {
    Check(ended_ || failed_);
    if (failed_) return WriteError({409, "failed", "a line failed"}, response);
    response->body = collected_;
  }

 private:
  const bool at_once_, may_fail_;
  bool ended_ = false, failed_ = false;
  std::string collected_;
};

class PathService final : public Service {
 public:
  Plan Begin(const RequestHead& head) override {
    heads.push_back(head.method == Method::kHead);
    const char letter = head.Path().size() > 1 ? head.Path()[1] : '/';
    Plan plan;
    plan.route = letter;
    plan.body = letter == 'd' ? BodyMode::kDiscard : BodyMode::kWhole;
    plan.coding = ParseContentEncoding(head.content_encoding).value_or(Coding::kIdentity);
    plan.compress = true;
    if (letter == 's' || letter == 'c' || letter == 'f') {
      plan.body = BodyMode::kStream;
      plan.stream = std::make_unique<Lines>(letter == 's', letter == 'f');
    }
    if (letter == 'r') {
      plan.refused = true;
      plan.refusal = {405, "method_not_allowed", "no"};
      plan.allow = "GET";
    }
    return plan;
  }
  Task<> Handle(const Plan& plan, const Request& request, Response* response) override {
    if (plan.route == 't') throw std::runtime_error("thrown");
    Check(plan.body != BodyMode::kDiscard || request.body.empty());
    response->body.append(request.head.target).append(":").append(request.body);
    if (plan.route == 'b') response->body.resize(40'000, 'b');
    response->close = plan.route == 'x';
    return {};
  }
  void Done(const Outcome&) override {}

  std::vector<bool> heads;  // of the requests taken, in order
};

Limits SmallLimits() {
  Limits limits;
  limits.body_bytes = 300;
  limits.header_bytes = 256;
  limits.inflight_bytes = 1 << 20;
  return limits;
}

/// Nothing that follows on this connection can be compared.
bool IsLast(const Answer& answer) { return answer.close || !answer.complete; }

void CheckSame(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  const size_t both = std::min(a.size(), b.size());
  for (size_t i = 0; i < both; ++i) {
    if (IsLast(a[i]) || IsLast(b[i])) return;
    Check(a[i] == b[i]);
  }
  const std::vector<Answer>& longer = a.size() > both ? a : b;
  Check(longer.size() == both ||
        (longer.size() == both + 1 && longer.back().close && longer.back().status >= 400));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static PathService service;
  static seendb::fuzz::SessionDriver driver(&service, SmallLimits());
  seendb::fuzz::Input input(data, size);
  const size_t most = 1 + input.Byte() % 64;
  const auto ending = static_cast<Ending>(input.Byte() % 3);
  const std::string_view bytes = input.Rest();

  service.heads.clear();
  const std::string whole = driver.Talk(bytes, 0, Ending::kDone);
  const auto answers = seendb::fuzz::AnswersIn(whole, service.heads);
  Check(answers.size() <= service.heads.size() + 1);
  service.heads.clear();
  const std::string pieces = driver.Talk(bytes, most, ending);
  if (ending == Ending::kGone) return 0;
  const auto again = seendb::fuzz::AnswersIn(pieces, service.heads);
  if (ending == Ending::kDone) CheckSame(answers, again);
  return 0;
}
