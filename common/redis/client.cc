#include "redis/client.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace seendb::redis {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;
/// Redirections that one command follows.
constexpr int kRedirectsMax = 5;

/// "MOVED 3999 127.0.0.1:6381": the address; empty where it is no such error.
std::string MovedTo(std::string_view error, std::string_view word) {
  if (!error.starts_with(word)) return {};
  const size_t last = error.rfind(' ');
  return std::string(error.substr(last + 1));
}

/// "host:port" of a node in the answer to CLUSTER SLOTS.
std::string NameOf(std::span<redisReply* const> node) {
  return std::string(Reply::TextOf(*node[0])) + ":" + std::to_string(node[1]->integer);
}

/// The value of a line `name:value` of INFO.
std::string InfoValue(std::string_view info, std::string_view name) {
  const std::string wanted = std::string(name) + ":";
  size_t at = info.find(wanted);
  if (at == std::string_view::npos) return {};
  at += wanted.size();
  return std::string(info.substr(at, info.find('\r', at) - at));
}

}  // namespace

/// A node, and the connection to it where there is one.
struct Client::Peer {
  std::string address;  // as the cluster names it
  Address where;
  std::unique_ptr<Connection> connection;
  std::string slots;  // "0-5460,..."; empty: a replica, or a former primary
  std::vector<size_t> sent;
};

void Pipeline::Add(Words words, std::string_view key) {
  commands_.push_back({words_.size(), words.size(), SlotOf(key)});
  for (const std::string_view word : words) {
    words_.emplace_back(bytes_.size(), word.size());
    bytes_ += word;
  }
}

void Pipeline::Clear() {
  bytes_.clear();
  words_.clear();
  commands_.clear();
}

std::vector<std::string_view> Pipeline::WordsOf(size_t index) const {
  const Command& command = commands_[index];
  std::vector<std::string_view> words;
  words.reserve(command.words);
  for (size_t i = 0; i < command.words; ++i) {
    const auto& [begin, size] = words_[command.first_word + i];
    words.push_back(std::string_view(bytes_).substr(begin, size));
  }
  return words;
}

Client::Client(Address address, ClientOptions options)
    : address_(std::move(address)), options_(std::move(options)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::Open(Address address, ClientOptions options) {
  std::unique_ptr<Client> client(new Client(std::move(address), std::move(options)));
  auto peer = std::make_unique<Peer>();
  peer->address = client->address_.ToText();
  peer->where = client->address_;
  client->peers_.push_back(std::move(peer));
  auto connection = client->ConnectionOf(*client->peers_.front());
  if (!connection.ok()) return connection.status();
  auto info = (*connection)->Run({"CLUSTER", "SLOTS"});
  if (!info.ok()) return info.status();
  // A Redis alone refuses the question, with or without cluster commands.
  client->cluster_ = info->is_array();
  if (!client->cluster_) {
    const Status refused = info->status();
    if (refused.code() == StatusCode::kUnavailable) return refused;
    if (info->text().starts_with("NOAUTH")) return refused;
    return client;
  }
  Status learnt = client->ReadSlots(*info);
  if (!learnt.ok()) return learnt;
  return client;
}

Result<Connection*> Client::ConnectionOf(Peer& peer) {
  if (!peer.connection) {
    auto connection = std::make_unique<Connection>(options_.timeout);
    Status opened = connection->Open(peer.where, options_.files);
    if (!opened.ok()) return Lose(peer, std::move(opened));
    peer.connection = std::move(connection);
  }
  return peer.connection.get();
}

Status Client::Lose(Peer& peer, Status why) {
  peer.connection.reset();
  learn_again_ = cluster_;
  return why;
}

Client::Peer& Client::PeerAt(const std::string& address) {
  for (auto& peer : peers_) {
    if (peer->address == address) return *peer;
  }
  auto peer = std::make_unique<Peer>();
  peer->address = address;
  peer->where = address_;
  peer->where.target.unix_path.clear();
  peer->where.database = 0;
  const size_t colon = address.rfind(':');
  peer->where.target.host = address.substr(0, colon);
  peer->where.target.port = address.substr(colon + 1);
  // "MOVED 1 :6380": the node that was asked, at another port.
  if (peer->where.target.host.empty()) peer->where.target.host = address_.target.host;
  peers_.push_back(std::move(peer));
  return *peers_.back();
}

Status Client::ReadSlots(const Reply& reply) {
  for (auto& peer : peers_) peer->slots.clear();
  named_.clear();
  peer_of_slot_.assign(kSlots, kNobody);
  if (reply.elements().size() > kSlots) {
    return Status::Unavailable("Redis: CLUSTER SLOTS names more ranges than there are slots");
  }
  for (const redisReply* const range : reply.elements()) {
    const auto parts = Reply::ElementsOf(*range);
    if (parts.size() < 3) return Status::Unavailable("Redis: CLUSTER SLOTS can't be read");
    const auto primary = Reply::ElementsOf(*parts[2]);
    if (primary.size() < 2) return Status::Unavailable("Redis: CLUSTER SLOTS can't be read");
    const long long first = parts[0]->integer;
    const long long last = parts[1]->integer;
    if (first < 0 || first > last || last >= kSlots) {
      return Status::Unavailable("Redis: CLUSTER SLOTS names slots that are none");
    }
    for (const redisReply* const one : parts.subspan(2)) {
      if (const auto node = Reply::ElementsOf(*one); node.size() >= 2) named_.insert(NameOf(node));
    }
    Peer& peer = PeerAt(NameOf(primary));
    peer.slots +=
        (peer.slots.empty() ? "" : ",") + std::to_string(first) + "-" + std::to_string(last);
    const auto index =
        static_cast<uint32_t>(std::find_if(peers_.begin(), peers_.end(),
                                           [&](const auto& one) { return one.get() == &peer; }) -
                              peers_.begin());
    std::fill(peer_of_slot_.begin() + first, peer_of_slot_.begin() + last + 1, index);
  }
  learn_again_ = false;
  return {};
}

/// Asks any node that answers for the slots.
Status Client::LearnSlots() {
  Status failed = Status::Unavailable("Redis: no node of the cluster answers");
  for (size_t i = 0; i < peers_.size(); ++i) {
    auto connection = ConnectionOf(*peers_[i]);
    if (!connection.ok()) {
      failed = connection.status();
      continue;
    }
    auto reply = (*connection)->Run({"CLUSTER", "SLOTS"});
    if (!reply.ok()) {
      failed = Lose(*peers_[i], reply.status());
      continue;
    }
    if (reply->is_array() && !reply->elements().empty()) return ReadSlots(*reply);
  }
  return failed;
}

Result<Reply> Client::RunAlone(Peer& peer, const Pipeline& pipeline, size_t index, bool asking) {
  auto connection = ConnectionOf(peer);
  if (!connection.ok()) return connection.status();
  if (asking) {
    auto asked = (*connection)->Run({"ASKING"});
    if (!asked.ok()) return Lose(peer, asked.status());
  }
  auto reply = (*connection)->Run(pipeline.WordsOf(index));
  if (!reply.ok()) return Lose(peer, reply.status());
  return reply;
}

/// Whoever answers could else have the password sent to any address. A slot may have just moved to
/// a node that is new.
Status Client::CheckNamed(const std::string& address) {
  if (named_.contains(address)) return {};
  if (Status learnt = LearnSlots(); !learnt.ok()) return learnt;
  if (named_.contains(address)) return {};
  return Status::Unavailable("Redis: redirected to " + address +
                             ", which CLUSTER SLOTS does not name");
}

/// Follows the redirections of one command; `reply` is what the first node said.
Result<Reply> Client::Redirect(const Pipeline& pipeline, size_t index, Reply reply) {
  for (int i = 0; i < kRedirectsMax; ++i) {
    const std::string moved = MovedTo(reply.text(), "MOVED ");
    const std::string ask = MovedTo(reply.text(), "ASK ");
    if (moved.empty() && ask.empty()) return reply;
    if (!moved.empty()) learn_again_ = true;
    const std::string& to = moved.empty() ? ask : moved;
    if (Status named = CheckNamed(to); !named.ok()) return named;
    auto next = RunAlone(PeerAt(to), pipeline, index, moved.empty());
    if (!next.ok()) return next;
    reply = std::move(next).value();
    if (!reply.is_error()) return reply;
  }
  return Status::Unavailable("Redis: a key is redirected without end");
}

Result<std::vector<Reply>> Client::Run(const Pipeline& pipeline) {
  if (learn_again_) {
    Status learnt = LearnSlots();
    if (!learnt.ok()) return learnt;
  }
  for (auto& peer : peers_) peer->sent.clear();
  for (size_t i = 0; i < pipeline.size(); ++i) {
    const uint32_t index = cluster_ ? peer_of_slot_[pipeline.commands_[i].slot] : 0;
    if (index == kNobody) {
      learn_again_ = true;
      return Status::Unavailable("Redis: no node has slot " +
                                 std::to_string(pipeline.commands_[i].slot));
    }
    peers_[index]->sent.push_back(i);
  }
  for (auto& peer : peers_) {
    if (peer->sent.empty()) continue;
    auto connection = ConnectionOf(*peer);
    if (!connection.ok()) return connection.status();
    for (const size_t i : peer->sent) (*connection)->Append(pipeline.WordsOf(i));
    Status flushed = (*connection)->Flush();
    if (!flushed.ok()) return Lose(*peer, std::move(flushed));
  }
  std::vector<Reply> replies(pipeline.size());
  Status failed;
  for (auto& peer : peers_) {
    for (const size_t i : peer->sent) {
      if (!peer->connection) break;
      auto reply = peer->connection->Next();
      if (!reply.ok()) {
        failed = Lose(*peer, reply.status());
        break;
      }
      replies[i] = std::move(reply).value();
    }
  }
  if (!failed.ok()) return failed;
  if (!cluster_) return replies;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].is_error()) continue;
    auto reply = Redirect(pipeline, i, std::move(replies[i]));
    if (!reply.ok()) return reply.status();
    replies[i] = std::move(reply).value();
  }
  return replies;
}

Result<std::vector<Node>> Client::Nodes() {
  if (cluster_) {
    Status learnt = LearnSlots();
    if (!learnt.ok()) return learnt;
  }
  std::vector<Node> nodes;
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (cluster_ && peers_[i]->slots.empty()) continue;
    auto info = RunOn(peers_[i]->address, {"INFO", "server"});
    if (!info.ok()) return info.status();
    nodes.push_back({peers_[i]->address, peers_[i]->slots, InfoValue(info->text(), "run_id")});
  }
  return nodes;
}

Result<Reply> Client::RunOn(const std::string& node,
                            std::initializer_list<std::string_view> words) {
  Peer& peer = PeerAt(node);
  auto connection = ConnectionOf(peer);
  if (!connection.ok()) return connection.status();
  auto reply = (*connection)->Run(words);
  if (!reply.ok()) return Lose(peer, reply.status());
  return reply;
}

}  // namespace seendb::redis
