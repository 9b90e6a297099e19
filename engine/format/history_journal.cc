#include "format/history_journal.h"

namespace seendb {

void HistoryJournalEncoder::Add(const WatchedPlay& play) {
  std::string* const bytes = AddUser(play.user);
  bytes->push_back(static_cast<char>(play.item.size()));
  bytes->append(play.item);
  AddRelative(play.at_ms);
  bytes->append(play.payload);
}

bool HistoryJournalDecoder::IsOne(std::string_view record) {
  return !record.empty() &&
         static_cast<uint8_t>(record[0]) == static_cast<uint8_t>(Tag::kHistoryJournal);
}

bool HistoryJournalDecoder::Next(WatchedPlay* play) {
  if (!NextUser(&play->user)) return false;
  play->item = in()->Bytes(in()->U8());
  play->at_ms = ReadRelative();
  PayloadView payload;
  play->payload = ReadPayload(in(), &payload);
  return EndPlay(!play->item.empty());
}

}  // namespace seendb
