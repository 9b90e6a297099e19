// A header and an answer that claim to be of a node: without the secret nothing is proven or
// learned, whatever they are.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "proof/proofs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using seendb::proof::Checked;
  static seendb::proof::Proofs* const kNode = [] {
    auto* const node = new seendb::proof::Proofs("n2");
    node->SetSecrets({"another-secret-of-nodes"});
    return node;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view header = text.substr(0, text.find('\n'));
  const std::string_view rest = text.substr(std::min(header.size() + 1, size));
  const seendb::proof::Question question{.method = "GET", .target = rest};
  if (kNode->Check(header, question).kind == Checked::Kind::kProven) std::abort();
  if (kNode->Learn(header, rest)) std::abort();
  static_cast<void>(seendb::proof::IsBody(header, rest));
  return 0;
}
