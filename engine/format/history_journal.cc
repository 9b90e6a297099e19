#include "format/history_journal.h"

namespace seendb {
namespace {

bool HasTag(std::string_view record, Tag tag) {
  return !record.empty() && static_cast<uint8_t>(record[0]) == static_cast<uint8_t>(tag);
}

// A report says all that it says at its own time.
bool SaysNow(const HistoryState& report) {
  const auto now = [&](const auto& word) { return !word.said() || word.said_ms == report.at_ms; };
  return now(report.progress_s) && now(report.duration_s) && now(report.device) &&
         now(report.fields);
}

}  // namespace

void HistoryJournalEncoder::Add(const WatchedPlay& play) {
  std::string* const bytes = AddUser(play.user);
  bytes->push_back(static_cast<char>(play.item.size()));
  bytes->append(play.item);
  AddRelative(play.at_ms);
  bytes->append(play.words);
}

bool HistoryJournalDecoder::IsOne(std::string_view record) {
  return HasTag(record, Tag::kHistoryJournal) || HasTag(record, Tag::kHistoryJournalWords);
}

bool HistoryJournalDecoder::Begin(std::string_view record) {
  first_version_ = HasTag(record, Tag::kHistoryJournal);
  return BeginRecord(first_version_ ? Tag::kHistoryJournal : Tag::kHistoryJournalWords, record);
}

bool HistoryJournalDecoder::Next(WatchedPlay* play) {
  if (!NextUser(&play->user)) return false;
  play->item = in()->Bytes(in()->U8());
  HistoryState report;
  report.at_ms = play->at_ms = ReadRelative();
  const std::string_view all = in()->rest();
  if (first_version_) {
    ReadPayloadV1(in(), &report);
    words_.clear();
    if (in()->ok()) PutWords(&words_, report);
    play->words = words_;
  } else {
    ReadWords(in(), &report);
    play->words = all.substr(0, all.size() - in()->remaining());
  }
  return EndPlay(!play->item.empty() && SaysNow(report));
}

}  // namespace seendb
