#include "files/token_file.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder_sync.h"
#include "base/outside_json.h"
#include "files/tokens.h"
#include "text/base64.h"

namespace seendb::files {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::chrono::seconds kLockMost{10};
constexpr std::chrono::milliseconds kLockPause{20};

Status Failed(const std::string& what) {
  return Status::IOError(what + ": " + std::strerror(errno));
}

/// The file beside, open and locked. Removed at the end unless it was renamed.
class PartFile {
 public:
  explicit PartFile(const std::string& target) : target_(target), path_(target + ".part") {}
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (file_ < 0) return;
    if (locked_ && !renamed_) ::unlink(path_.c_str());
    ::close(file_);
  }

  Status Lock() {
    const auto until = std::chrono::steady_clock::now() + kLockMost;
    for (;;) {
      file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (file_ < 0) return Failed("can't write " + path_);
      const bool locked = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
      if (locked && IsStillThere()) {
        locked_ = IsOurs();
        if (locked_) return Status::Ok();
        return Status::InvalidArgument(path_ + " was made by somebody else; remove it");
      }
      if (!locked && errno != EWOULDBLOCK) return Failed("can't lock " + path_);
      ::close(std::exchange(file_, -1));
      if (std::chrono::steady_clock::now() > until) {
        return Status::Busy("another process changes " + target_ + " (it has " + path_ +
                            " locked)");
      }
      std::this_thread::sleep_for(kLockPause);
    }
  }

  /// Writes everything, and puts it in the place of the target. `like` says whose it is, and its
  /// mode; null: there is no target yet.
  Status Replace(std::string_view text, const struct stat* like) {
    if (::ftruncate(file_, 0) != 0) return Failed("can't write " + path_);
    const mode_t mode = like == nullptr ? 0600 : like->st_mode & 07777;
    if (like != nullptr && ::fchown(file_, like->st_uid, like->st_gid) != 0) {
      return Failed("can't give " + path_ + " the owner of " + target_);
    }
    if (::fchmod(file_, mode) != 0) return Failed("can't set the mode of " + path_);
    while (!text.empty()) {
      const ssize_t count = ::write(file_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return Failed("can't write " + path_);
      text.remove_prefix(static_cast<size_t>(count));
    }
    if (::fsync(file_) != 0) return Failed("can't sync " + path_);
    if (::rename(path_.c_str(), target_.c_str()) != 0) return Failed("can't replace " + target_);
    renamed_ = true;
    return SyncFolderOf(target_);
  }

 private:
  /// Whoever had the lock before may have renamed or removed the file.
  bool IsStillThere() const {
    struct stat open {
    }, named{};
    return ::fstat(file_, &open) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
           open.st_ino == named.st_ino && open.st_dev == named.st_dev;
  }

  /// Who else has it open could write to it later.
  bool IsOurs() const {
    struct stat open {};
    return ::fstat(file_, &open) == 0 && open.st_uid == ::geteuid() && open.st_nlink == 1;
  }

  const std::string target_, path_;
  int file_ = -1;
  bool locked_ = false, renamed_ = false;
};

/// An entry a line.
std::string TextOf(const OrderedJson& entries) {
  std::string text = "[";
  for (const OrderedJson& entry : entries) {
    text += text.size() == 1 ? "\n  " : ",\n  ";
    text += entry.dump();
  }
  return text + (entries.empty() ? "]\n" : "\n]\n");
}

/// Applies `change` to the entries of the file.
Status Change(const std::string& path, bool may_be_missing,
              const std::function<Status(const TokenSet&, OrderedJson*)>& change) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  const bool missing = error == std::errc::no_such_file_or_directory &&
                       !std::filesystem::is_symlink(std::filesystem::symlink_status(path));
  if (error && !(missing && may_be_missing)) {
    return Status::IOError("can't read " + path + ": " + error.message());
  }
  const std::string target = error ? path : real.string();
  PartFile part(target);
  if (Status locked = part.Lock(); !locked.ok()) return locked;
  struct stat about {};
  const bool exists = ::stat(target.c_str(), &about) == 0;
  if (!exists && (errno != ENOENT || !may_be_missing)) return Failed("can't read " + target);
  std::string before = "[]";
  if (exists) {
    Result<std::string> read = ReadTokensText(target);
    if (!read.ok()) return read.status();
    before = std::move(read).value();
  }
  const auto tokens = ReadTokens(before);
  if (!tokens.ok()) return InFile(path, tokens.status());
  OrderedJson entries = ParseOutside<OrderedJson>(before);
  if (Status changed = change(**tokens, &entries); !changed.ok()) return changed;
  const std::string after = TextOf(entries);
  if (after.size() > kMaxTokensFileBytes) {
    return Status::InvalidArgument(path + " would be over " + std::to_string(kMaxTokensFileBytes) +
                                   " bytes");
  }
  if (const Status judged = ReadTokens(after).status(); !judged.ok()) return InFile(path, judged);
  return part.Replace(after, exists ? &about : nullptr);
}

}  // namespace

Result<std::string> MakeToken() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Status::Unavailable("the system gives no random bits");
  }
  std::string token = text::Base64Of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (char& c : token) c = c == '+' ? '-' : c == '/' ? '_' : c;
  token.resize(token.find('='));
  return token;
}

std::string HexOf(const std::array<uint8_t, 32>& digest) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::string DigestOf(std::string_view token) {
  TokenSet::Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return HexOf(digest);
}

Status AddToken(const std::string& path, const nlohmann::ordered_json& entry) {
  return Change(path, /*may_be_missing=*/true, [&](const TokenSet& tokens, OrderedJson* entries) {
    const std::string name = entry.value("name", "");
    if (tokens.FindName(name) != nullptr) {
      return Status::InvalidArgument(path + " has a token of the name " + name +
                                     " already: revoke it, or take another name");
    }
    entries->push_back(entry);
    return Status::Ok();
  });
}

Status RemoveToken(const std::string& path, std::string_view name) {
  return Change(path, /*may_be_missing=*/false, [&](const TokenSet& tokens, OrderedJson* entries) {
    const Token* const token = tokens.FindName(name);
    if (token == nullptr) {
      return Status::NotFound(path + " has no token of the name " + std::string(name));
    }
    entries->erase(static_cast<size_t>(token - tokens.tokens.data()));
    return Status::Ok();
  });
}

}  // namespace seendb::files
