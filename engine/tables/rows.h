// tables/rows.h: keys and values of each kind of family as text, and what is wrong with a row: what
// the entries of kTables are made of.

#pragma once

#include <string>
#include <string_view>

#include "tables/table.h"

namespace seendb {

/// A key in printable form: text, or a day key.
std::string PlainKeyText(std::string_view key);
std::string OwnKeyText(std::string_view key);
/// That of a journal record: "epoch:counter".
std::string SequenceKeyText(std::string_view key);
/// User and item; of a timeline row with the time between them.
std::string HistoryKeyText(std::string_view key);
std::string TimelineKeyText(std::string_view key);

/// A value decoded into one line; a damaged one says so.
std::string PlainText(std::string_view value);
std::string FilterText(std::string_view value);
std::string JournalText(std::string_view value);
std::string ImpressionsText(std::string_view value);
std::string HistoryText(std::string_view value);
std::string UserText(std::string_view value);
std::string OwnText(std::string_view value);
std::string CountsText(std::string_view value);

/// What is wrong with a row.
Fault FaultOfMeta(std::string_view key, std::string_view value);
Fault FaultOfFilter(std::string_view key, std::string_view value);
Fault FaultOfJournal(std::string_view key, std::string_view value);
Fault FaultOfImpressions(std::string_view key, std::string_view value);
Fault FaultOfHistory(std::string_view key, std::string_view value);
Fault FaultOfTimeline(std::string_view key, std::string_view value);
Fault FaultOfUser(std::string_view key, std::string_view value);
Fault FaultOfOwn(std::string_view key, std::string_view value);
Fault FaultOfCounts(std::string_view key, std::string_view value);

}  // namespace seendb
