#include "redis/connection.h"

#include <array>
#include <charconv>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace seendb::redis {
namespace {

constexpr size_t kReadBytes = 64 << 10;
/// Of an error's text as it is told.
constexpr size_t kErrorBytesMost = 256;
/// Timeouts that a reply may take as a whole.
constexpr int kTimeoutsOfReply = 4;

/// The first words of errors that pass, and of those that are about rights.
constexpr std::array<std::string_view, 6> kPassing = {"LOADING",    "CLUSTERDOWN", "BUSY",
                                                      "MASTERDOWN", "TRYAGAIN",    "NOREPLICAS"};
constexpr std::array<std::string_view, 3> kRights = {"NOAUTH", "WRONGPASS", "NOPERM"};

template <size_t n>
bool BeginsWithOneOf(std::string_view text, const std::array<std::string_view, n>& words) {
  const std::string_view first = text.substr(0, text.find(' '));
  for (const std::string_view word : words) {
    if (first == word) return true;
  }
  return false;
}

void AppendBulk(std::string_view word, std::string* out) {
  char size[24];
  const auto [end, error] = std::to_chars(size, size + sizeof(size), word.size());
  out->append("$").append(size, end).append("\r\n").append(word).append("\r\n");
}

}  // namespace

std::string_view Reply::TextOf(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      return {reply.str, static_cast<size_t>(reply.len)};
    default:
      return {};
  }
}

std::span<redisReply* const> Reply::ElementsOf(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, static_cast<size_t>(reply.elements)};
}

Status Reply::status() const {
  if (!is_error()) return {};
  std::string message = "Redis: " + std::string(text().substr(0, kErrorBytesMost));
  if (text().size() > kErrorBytesMost) message += "...";
  if (BeginsWithOneOf(text(), kPassing)) return Status::Unavailable(message);
  if (BeginsWithOneOf(text(), kRights)) return {StatusCode::kForbidden, message};
  return Status::InvalidArgument(message);
}

Connection::Connection(std::chrono::milliseconds timeout)
    : timeout_(timeout), stream_(timeout), reader_(redisReaderCreate()), received_(kReadBytes) {
  reader_->maxbuf = 0;  // keep the buffer between replies
  // Debian 12's hiredis has no limit of its own, and takes memory for all elements that are
  // announced.
  reading_.made_by = reader_->fn;
  functions_ = *reader_->fn;
  functions_.createArray = MakeArray;
  reader_->fn = &functions_;
  reader_->privdata = &reading_;
}

template <typename Count>
void* Connection::MakeArray(const redisReadTask* task, Count elements) {
  auto* const reading = static_cast<Reading*>(task->privdata);
  if (static_cast<size_t>(elements) > reading->elements_left) {
    reading->too_much = true;
    return nullptr;
  }
  reading->elements_left -= static_cast<size_t>(elements);
  return reading->made_by->createArray(task, elements);
}

Status Connection::TooMuch() const {
  return Status::Unavailable("Redis: it answers with more than was asked for (" +
                             std::to_string(asked_.front().elements) + " elements, " +
                             std::to_string(asked_.front().bytes) + " bytes)");
}

Status Connection::Open(const Address& address, const net::TlsFiles& files) {
  Status status = stream_.Connect(address.target, files);
  if (!status.ok()) {
    return {status.code(),
            "can't reach " + address.ToText() + ": " + std::string(status.message())};
  }
  const auto ask = [&](std::initializer_list<std::string_view> words) {
    auto reply = Run(words);
    if (!reply.ok()) return reply.status();
    // What Redis says of a login never has the password.
    return reply->status();
  };
  if (!address.password.empty()) {
    status = address.user.empty() ? ask({"AUTH", address.password})
                                  : ask({"AUTH", address.user, address.password});
    if (!status.ok()) {
      const bool refused = status.code() == StatusCode::kInvalidArgument;
      return {refused ? StatusCode::kForbidden : status.code(),
              address.ToText() + ": " + std::string(status.message())};
    }
  }
  if (address.database != 0) status = ask({"SELECT", std::to_string(address.database)});
  return status;
}

void Connection::Append(Words words) {
  // A reply too many would be taken for the reply to this command, and so on for ever.
  if (asked_.empty() && answered_) {
    unasked_ = unasked_ || reader_->pos < reader_->len || stream_.HasUnread();
  }
  asked_.push_back(LimitOf(words));
  queued_ += '*';
  queued_ += std::to_string(words.size());
  queued_ += "\r\n";
  for (const std::string_view word : words) AppendBulk(word, &queued_);
}

Status Connection::Flush() {
  if (unasked_) return Status::Unavailable("Redis: it answers what nobody asked");
  const auto error = stream_.Run([&](auto& stream, auto on_end) {
    boost::asio::async_write(stream, boost::asio::buffer(queued_), on_end);
  });
  queued_.clear();
  return error ? Status::Unavailable("Redis: " + error.message()) : Status();
}

Result<Reply> Connection::Next() {
  if (asked_.empty()) return Status::Unavailable("Redis: nothing was asked");
  if (!std::exchange(begun_, true)) {
    reading_.elements_left = asked_.front().elements;
    reading_.bytes_left = asked_.front().bytes + kReadBytes;  // a part of it may have come before
  }
  const auto until = std::chrono::steady_clock::now() + kTimeoutsOfReply * timeout_;
  for (;;) {
    void* reply = nullptr;
    if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
      if (reading_.too_much) return TooMuch();
      return Status::Unavailable(std::string("Redis: ") + reader_->errstr);
    }
    if (reply != nullptr) {
      asked_.pop_front();
      begun_ = false;
      answered_ = true;
      return Reply(static_cast<redisReply*>(reply));
    }
    size_t bytes = 0;
    const auto error = stream_.Run([&](auto& stream, auto on_end) {
      stream.async_read_some(boost::asio::buffer(received_), [on_end, &bytes](auto e, size_t n) {
        bytes = n;
        on_end(e);
      });
    });
    if (error) return Status::Unavailable("Redis: " + error.message());
    if (std::chrono::steady_clock::now() > until) {
      return Status::Unavailable("Redis: its answer does not end in time");
    }
    if (bytes > reading_.bytes_left) return TooMuch();
    reading_.bytes_left -= bytes;
    if (redisReaderFeed(reader_.get(), received_.data(), bytes) != REDIS_OK) {
      return Status::Unavailable(std::string("Redis: ") + reader_->errstr);
    }
  }
}

Result<Reply> Connection::Run(Words words) {
  Append(words);
  Status status = Flush();
  if (!status.ok()) return status;
  return Next();
}

}  // namespace seendb::redis
