// redis/client.h: a Redis or a Redis Cluster: commands go where their key is.
//
//   auto client = redis::Client::Open(address, {}).value();
//   Pipeline pipeline;
//   pipeline.Add({"ZCARD", key}, key);
//   auto replies = client->Run(pipeline);   // replies[0]
//
// Of a cluster the client knows which primary has which slot; it follows MOVED and ASK, and asks
// the cluster anew when a node is lost.

#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection.h"

namespace seendb::redis {

/// How a Redis is asked.
struct ClientOptions {
  std::chrono::milliseconds timeout{10'000};  ///< for each step: connecting, a write, a read
  net::TlsFiles files = {};
};

/// Commands that are sent together. Owns their bytes.
class Pipeline {
 public:
  /// Adds a command of one key. Of a cluster, the key says where it goes.
  void Add(Words words, std::string_view key);
  void Add(std::initializer_list<std::string_view> words, std::string_view key) {
    Add(Words(words.begin(), words.size()), key);
  }
  void Clear();
  size_t size() const { return commands_.size(); }

 private:
  friend class Client;
  struct Command {
    size_t first_word;
    size_t words;
    uint16_t slot;
  };
  std::vector<std::string_view> WordsOf(size_t index) const;

  std::string bytes_;
  std::vector<std::pair<size_t, size_t>> words_;  // begin in bytes_, size
  std::vector<Command> commands_;
};

/// A primary: one, where it is no cluster.
struct Node {
  std::string address;  ///< "host:port", as the cluster names it; of no cluster Address::ToText
  std::string slots;    ///< "0-5460,8000-8100"; of no cluster empty
  std::string run;      ///< INFO's run_id: another after each start of the process
};

/// See the head of this file. A connection that is lost is made again by the next call.
/// Threads: one.
class Client {
 public:
  /// Connects, and learns whether it is a cluster. kUnavailable, kForbidden, kInvalidArgument.
  static Result<std::unique_ptr<Client>> Open(Address address, ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends the commands, to each node its own in one write, and reads their replies: as many as
  /// commands, in their order; a command that Redis refused has its error. Redirections lead to
  /// nodes that CLUSTER SLOTS names, and to no others. kUnavailable: something was not answered;
  /// commands may have run. Memory: all replies; the caller bounds them.
  Result<std::vector<Reply>> Run(const Pipeline& pipeline);
  /// The primaries, and which process each is now. kUnavailable.
  Result<std::vector<Node>> Nodes();
  /// One command to one node of Nodes(), by its address. kUnavailable.
  Result<Reply> RunOn(const std::string& node, std::initializer_list<std::string_view> words);
  bool is_cluster() const { return cluster_; }

 private:
  struct Peer;

  Client(Address address, ClientOptions options);
  Result<Connection*> ConnectionOf(Peer& peer);
  Status LearnSlots();
  Status ReadSlots(const Reply& reply);
  Peer& PeerAt(const std::string& address);
  Status CheckNamed(const std::string& address);
  Result<Reply> Redirect(const Pipeline& pipeline, size_t index, Reply reply);
  Result<Reply> RunAlone(Peer& peer, const Pipeline& pipeline, size_t index, bool asking);
  Status Lose(Peer& peer, Status why);

  const Address address_;
  const ClientOptions options_;
  bool cluster_ = false;
  bool learn_again_ = false;
  std::vector<std::unique_ptr<Peer>> peers_;  // of no cluster the one
  std::set<std::string> named_;               // by CLUSTER SLOTS: they alone get the password
  std::vector<uint32_t> peer_of_slot_;        // of a cluster
};

}  // namespace seendb::redis
