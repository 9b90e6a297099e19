#include "peers/peer_client.h"

#include <algorithm>

#include "peers/peer_thread.h"

namespace seendb::peers {

std::string_view PeerAnswer::Header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [name](const auto& one) { return one.first == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

PeerClient::PeerClient(const PeerClientOptions& options) {
  for (size_t i = 0; i < std::max<size_t>(1, options.threads); ++i) {
    threads_.push_back(std::make_unique<PeerThread>(options));
  }
}

PeerClient::~PeerClient() { Stop(); }

void PeerClient::Ask(PeerRequest request, Done done) {
  const size_t turn = next_.fetch_add(1, std::memory_order_relaxed);
  threads_[turn % threads_.size()]->Post(std::move(request), std::move(done));
}

void PeerClient::After(std::chrono::milliseconds time, std::function<void()> then) {
  const size_t turn = next_.fetch_add(1, std::memory_order_relaxed);
  threads_[turn % threads_.size()]->After(time, std::move(then));
}

void PeerClient::SetTls(const net::TlsContext& tls) {
  for (const auto& thread : threads_) thread->SetTls(tls);
}

void PeerClient::Stop() {
  for (const auto& thread : threads_) thread->Stop();
}

}  // namespace seendb::peers
