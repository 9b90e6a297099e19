#include "format/journal_codec.h"

namespace seendb {

void JournalWriter::BeginRecord(Tag tag, std::string_view collection, int64_t base) {
  bytes_.clear();
  plays_.clear();
  last_user_.clear();
  base_ = base;
  count_ = 0;
  bytes_.push_back(static_cast<char>(tag));
  bytes_.push_back('\0');
  PutVarint(&bytes_, collection.size());
  bytes_.append(collection);
  PutZigzag(&bytes_, base);
}

std::string* JournalWriter::AddUser(std::string_view user) {
  if (user == last_user_) {
    plays_.push_back('\0');
  } else {
    plays_.push_back(static_cast<char>(user.size()));
    plays_.append(user);
    last_user_.assign(user);
  }
  ++count_;
  return &plays_;
}

void JournalWriter::AddRelative(int64_t number) {
  PutZigzag(&plays_,
            static_cast<int64_t>(static_cast<uint64_t>(number) - static_cast<uint64_t>(base_)));
}

std::string_view JournalWriter::Finish() {
  PutVarint(&bytes_, count_);
  bytes_.append(plays_);
  Seal32(&bytes_);
  return bytes_;
}

bool JournalReader::BeginRecord(Tag tag, std::string_view record) {
  std::string_view body;
  ok_ = Open32(record, tag, &body);
  if (!ok_) return false;
  in_ = Reader(body);
  const uint8_t flags = in_.U8();
  collection_ = in_.Bytes(in_.Varint());
  base_ = in_.Zigzag();
  count_ = in_.Varint32();
  user_ = {};
  read_ = 0;
  ok_ = in_.ok() && flags == 0;
  return ok_;
}

bool JournalReader::NextUser(std::string_view* user) {
  if (!ok_ || read_ == count_) {
    ok_ = ok_ && in_.remaining() == 0;
    return false;
  }
  const uint8_t user_bytes = in_.U8();
  if (user_bytes != 0) user_ = in_.Bytes(user_bytes);
  *user = user_;
  ++read_;
  return true;
}

// Unsigned, so that hostile bytes can't overflow.
int64_t JournalReader::ReadRelative() {
  return static_cast<int64_t>(static_cast<uint64_t>(base_) + static_cast<uint64_t>(in_.Zigzag()));
}

bool JournalReader::EndPlay(bool sound) {
  ok_ = sound && in_.ok() && !user_.empty();
  return ok_;
}

void JournalEncoder::Add(std::string_view user, int64_t bucket, Fingerprint item) {
  std::string* const play = AddUser(user);
  AddRelative(bucket);
  PutFingerprint(play, item);
}

bool JournalDecoder::Next(std::string_view* user, int64_t* bucket, Fingerprint* item) {
  if (!NextUser(user)) return false;
  *bucket = ReadRelative();
  *item = in()->Packed();
  return EndPlay(true);
}

std::string SequenceKey(uint64_t sequence) {
  std::string key(8, '\0');
  for (size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(sequence >> (8 * (7 - i)));
  return key;
}

bool ParseSequenceKey(std::string_view key, uint64_t* sequence) {
  if (key.size() != 8) return false;
  *sequence = 0;
  for (char byte : key) *sequence = *sequence << 8 | static_cast<uint8_t>(byte);
  return true;
}

}  // namespace seendb
