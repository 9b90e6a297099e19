#include "format/history_journal.h"

namespace seendb {

void HistoryJournalEncoder::Begin(std::string_view collection, int64_t base_ms) {
  bytes_.clear();
  plays_.clear();
  last_user_.clear();
  base_ms_ = base_ms;
  count_ = 0;
  bytes_.push_back(static_cast<char>(Tag::kHistoryJournal));
  bytes_.push_back('\0');
  PutVarint(&bytes_, collection.size());
  bytes_.append(collection);
  PutZigzag(&bytes_, base_ms);
}

void HistoryJournalEncoder::Add(const WatchedPlay& play) {
  if (play.user == last_user_) {
    plays_.push_back('\0');
  } else {
    plays_.push_back(static_cast<char>(play.user.size()));
    plays_.append(play.user);
    last_user_.assign(play.user);
  }
  plays_.push_back(static_cast<char>(play.item.size()));
  plays_.append(play.item);
  PutZigzag(&plays_, static_cast<int64_t>(static_cast<uint64_t>(play.at_ms) -
                                          static_cast<uint64_t>(base_ms_)));
  plays_.append(play.payload);
  ++count_;
}

std::string_view HistoryJournalEncoder::Finish() {
  PutVarint(&bytes_, count_);
  bytes_.append(plays_);
  Seal32(&bytes_);
  return bytes_;
}

bool HistoryJournalDecoder::IsOne(std::string_view record) {
  return !record.empty() &&
         static_cast<uint8_t>(record[0]) == static_cast<uint8_t>(Tag::kHistoryJournal);
}

bool HistoryJournalDecoder::Begin(std::string_view record) {
  std::string_view body;
  ok_ = Open32(record, Tag::kHistoryJournal, &body);
  if (!ok_) return false;
  in_ = Reader(body);
  const uint8_t flags = in_.U8();
  collection_ = in_.Bytes(in_.Varint());
  base_ms_ = in_.Zigzag();
  count_ = in_.Varint32();
  user_ = {};
  read_ = 0;
  ok_ = in_.ok() && flags == 0;
  return ok_;
}

bool HistoryJournalDecoder::Next(WatchedPlay* play) {
  if (!ok_ || read_ == count_) {
    ok_ = ok_ && in_.remaining() == 0;
    return false;
  }
  const uint8_t user_bytes = in_.U8();
  if (user_bytes != 0) user_ = in_.Bytes(user_bytes);
  play->user = user_;
  play->item = in_.Bytes(in_.U8());
  // Unsigned, so that hostile bytes can't overflow.
  play->at_ms =
      static_cast<int64_t>(static_cast<uint64_t>(base_ms_) + static_cast<uint64_t>(in_.Zigzag()));
  PayloadView payload;
  play->payload = ReadPayload(&in_, &payload);
  ok_ = in_.ok() && !user_.empty() && !play->item.empty();
  if (!ok_) return false;
  ++read_;
  return true;
}

}  // namespace seendb
