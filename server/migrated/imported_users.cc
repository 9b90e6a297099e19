#include "migrated/imported_users.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace seendb::migrated {
namespace {

constexpr std::string_view kMagic = "SEENIMP1";
constexpr size_t kKeyBytes = 16;
constexpr uint32_t kTemplateMost = 1'024;
/// Users of one frame at most.
constexpr uint32_t kFrameUsers = 65'536;
constexpr size_t kFrameHead = sizeof(uint32_t) + sizeof(uint64_t);

static_assert(std::endian::native == std::endian::little);

template <typename Number>
void AppendNumber(Number number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
Number NumberAt(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

Status Failed(const std::string& what, const std::string& path) {
  return Status::IOError(what + " " + path + ": " + std::generic_category().message(errno));
}

/// All of `bytes` at `offset`.
bool WriteAll(int file, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return true;
}

/// As many bytes as there are, up to `size`.
std::string ReadAt(int file, size_t size, uint64_t offset) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t n =
        pread(file, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

HashKey KeyAt(const char* bytes) {
  std::array<uint8_t, kKeyBytes> raw;
  std::memcpy(raw.data(), bytes, raw.size());
  return HashKeyOf(raw);
}

std::string PathOf(const std::string& db, std::string_view collection) {
  return FolderOf(db) + "/" + std::string(collection) + ".users";
}

std::string EverybodyPathOf(const std::string& db, std::string_view collection) {
  return FolderOf(db) + "/" + std::string(collection) + ".everybody";
}

void SyncFolder(const std::string& folder) {
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);
  close(opened);
}

/// Makes the file with its head, complete or not at all.
Status Make(const std::string& path, std::string_view key_template) {
  const HashKey key = RandomHashKey();
  std::string head(kMagic);
  AppendNumber(key.low, &head);
  AppendNumber(key.high, &head);
  AppendNumber(static_cast<uint32_t>(key_template.size()), &head);
  head += key_template;
  AppendNumber(SipHash(KeyAt(head.data() + kMagic.size()), head), &head);
  const std::string made = path + ".tmp";
  const int file = open(made.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (file < 0) return Failed("open", made);
  const bool written = WriteAll(file, head, 0) && fsync(file) == 0;
  close(file);
  if (!written || rename(made.c_str(), path.c_str()) != 0) return Failed("write", made);
  return {};
}

/// The head's size, or 0 where it can't be read.
size_t HeadSize(std::string_view head) {
  constexpr size_t kFixed = kMagic.size() + kKeyBytes + sizeof(uint32_t);
  if (head.size() < kFixed || !head.starts_with(kMagic)) return 0;
  const auto text = NumberAt<uint32_t>(head.data() + kFixed - sizeof(uint32_t));
  const size_t size = kFixed + text + sizeof(uint64_t);
  if (text > kTemplateMost || head.size() < size) return 0;
  const auto sum = NumberAt<uint64_t>(head.data() + kFixed + text);
  const HashKey key = KeyAt(head.data() + kMagic.size());
  return sum == SipHash(key, head.substr(0, kFixed + text)) ? size : 0;
}

std::string_view TemplateOf(std::string_view head) {
  constexpr size_t kFixed = kMagic.size() + kKeyBytes + sizeof(uint32_t);
  return head.substr(kFixed, head.size() - kFixed - sizeof(uint64_t));
}

}  // namespace

std::string FolderOf(const std::string& db) { return db + "/MIGRATION"; }

Result<std::unique_ptr<ImportedUsers>> ImportedUsers::Open(const std::string& db,
                                                           std::string_view collection,
                                                           std::string_view key_template) {
  if (key_template.size() > kTemplateMost) return Status::InvalidArgument("the key is too long");
  const std::string folder = FolderOf(db);
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return Status::IOError("make " + folder + ": " + error.message());
  const std::string path = PathOf(db, collection);
  int file = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) {
    const std::string everybody = EverybodyPathOf(db, collection);  // of a file that was removed
    if (unlink(everybody.c_str()) != 0 && errno != ENOENT) return Failed("remove", everybody);
    if (Status made = Make(path, key_template); !made.ok()) return made;
    SyncFolder(folder);
    SyncFolder(db);
    file = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  }
  if (file < 0) return Failed("open", path);
  std::string head = ReadAt(file, kMagic.size() + kKeyBytes + kTemplateMost + 64, 0);
  const size_t size = HeadSize(head);
  head.resize(size);
  if (size == 0 || TemplateOf(head) != key_template) {
    close(file);
    if (size == 0) return Status::Corruption(path + " can't be read; remove it to begin anew");
    return Status::Incompatible(path + " is of the keys " + std::string(TemplateOf(head)) +
                                ", not of " + std::string(key_template) +
                                "; remove it to begin anew");
  }
  std::unique_ptr<ImportedUsers> users(
      new ImportedUsers(file, KeyAt(head.data() + kMagic.size()), EverybodyPathOf(db, collection)));
  if (Status read = users->ReadFrames(path, size); !read.ok()) return read;
  return users;
}

Status ImportedUsers::Remove(const std::string& db, std::string_view collection) {
  for (const std::string& path : {EverybodyPathOf(db, collection), PathOf(db, collection)}) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return Failed("remove", path);
  }
  SyncFolder(FolderOf(db));
  return {};
}

ImportedUsers::ImportedUsers(int file, const HashKey& key, std::string everybody_path)
    : file_(file), key_(key), everybody_path_(std::move(everybody_path)) {
  everybody_ = access(everybody_path_.c_str(), F_OK) == 0;
}

ImportedUsers::~ImportedUsers() { close(file_); }

/// Reads what was noted, and cuts off what is not whole.
Status ImportedUsers::ReadFrames(const std::string& path, uint64_t begin) {
  const MutexLock lock(append_mutex_);
  size_ = begin_ = begin;
  for (;;) {
    const std::string head = ReadAt(file_, kFrameHead, size_);
    if (head.size() < kFrameHead) break;
    const auto count = NumberAt<uint32_t>(head.data());
    if (count == 0 || count > kFrameUsers) break;
    const std::string hashes = ReadAt(file_, count * sizeof(uint64_t), size_ + kFrameHead);
    const auto sum = NumberAt<uint64_t>(head.data() + sizeof(uint32_t));
    if (hashes.size() != count * sizeof(uint64_t) || SipHash(key_, hashes) != sum) break;
    for (uint32_t i = 0; i < count; ++i) {
      Insert(NumberAt<uint64_t>(hashes.data() + i * sizeof(uint64_t)));
    }
    size_ += kFrameHead + hashes.size();
  }
  if (ftruncate(file_, static_cast<off_t>(size_)) != 0) return Failed("cut", path);
  return {};
}

uint64_t ImportedUsers::HashOf(IdRef user) const {
  const uint64_t hash = SipHash(key_, user.ToString());
  return hash == 0 ? 1 : hash;  // 0 is an empty place
}

bool ImportedUsers::Has(IdRef user) const {
  const uint64_t hash = HashOf(user);
  const Stripe& stripe = stripes_[hash % kStripes];
  const ReaderLock lock(stripe.mutex);
  if (stripe.places.empty()) return false;
  const size_t mask = stripe.places.size() - 1;
  for (size_t i = (hash / kStripes) & mask;; i = (i + 1) & mask) {
    if (stripe.places[i] == hash) return true;
    if (stripe.places[i] == 0) return false;
  }
}

void ImportedUsers::Insert(uint64_t hash) {
  Stripe& stripe = stripes_[hash % kStripes];
  const WriterLock lock(stripe.mutex);
  const auto put = [](std::vector<uint64_t>* places, uint64_t one) {
    const size_t mask = places->size() - 1;
    size_t i = (one / kStripes) & mask;
    while ((*places)[i] != 0 && (*places)[i] != one) i = (i + 1) & mask;
    const bool is_new = (*places)[i] == 0;
    (*places)[i] = one;
    return is_new;
  };
  if (4 * (stripe.used + 1) > 3 * stripe.places.size()) {
    std::vector<uint64_t> larger(std::max<size_t>(16, 2 * stripe.places.size()));
    for (const uint64_t one : stripe.places) {
      if (one != 0) put(&larger, one);
    }
    stripe.places = std::move(larger);
  }
  if (!put(&stripe.places, hash)) return;
  ++stripe.used;
  count_.fetch_add(1, std::memory_order_relaxed);
}

Status ImportedUsers::Add(std::span<const IdRef> users, Survives survives) {
  std::vector<uint64_t> added;
  for (const IdRef& user : users) {
    if (!Has(user)) added.push_back(HashOf(user));
  }
  if (added.empty()) return {};
  std::string frames;
  for (size_t begin = 0; begin < added.size(); begin += kFrameUsers) {
    const size_t count = std::min<size_t>(kFrameUsers, added.size() - begin);
    const std::string_view hashes(reinterpret_cast<const char*>(&added[begin]),
                                  count * sizeof(uint64_t));
    AppendNumber(static_cast<uint32_t>(count), &frames);
    AppendNumber(SipHash(key_, hashes), &frames);
    frames += hashes;
  }
  {
    const MutexLock lock(append_mutex_);
    // What a failed call left is written over by the next one.
    if (!WriteAll(file_, frames, size_) ||
        (survives == Survives::kPowerLoss && fdatasync(file_) != 0)) {
      return Failed("write", "who was imported");
    }
    size_ += frames.size();
  }
  for (const uint64_t hash : added) Insert(hash);
  return {};
}

std::string ImportedUsers::id() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(SipHash(key_, "which notes")));
  return text;
}

Status ImportedUsers::AddEverybody() {
  const MutexLock lock(append_mutex_);
  const int file = open(everybody_path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (file < 0) return Failed("make", everybody_path_);
  const bool synced = fsync(file) == 0;
  close(file);
  if (!synced) return Failed("sync", everybody_path_);
  SyncFolder(std::filesystem::path(everybody_path_).parent_path());
  everybody_ = true;
  return {};
}

Status ImportedUsers::Clear() {
  const MutexLock lock(append_mutex_);
  if (unlink(everybody_path_.c_str()) != 0 && errno != ENOENT) {
    return Failed("remove", everybody_path_);
  }
  SyncFolder(std::filesystem::path(everybody_path_).parent_path());
  everybody_ = false;
  if (ftruncate(file_, static_cast<off_t>(begin_)) != 0 || fdatasync(file_) != 0) {
    return Failed("cut", "who was imported");
  }
  size_ = begin_;
  for (Stripe& stripe : stripes_) {
    const WriterLock stripe_lock(stripe.mutex);
    stripe.places.clear();
    stripe.used = 0;
  }
  count_ = 0;
  return {};
}

}  // namespace seendb::migrated
