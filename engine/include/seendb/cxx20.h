// seendb/cxx20.h: included by every public header before the others of SeenDB, so that a compiler
// in an older mode says this first, and not that std::span is missing.

#pragma once

#if __cplusplus < 202002L
#error "SeenDB's headers need C++20: compile with -std=c++20, or link seendb::engine by CMake"
#endif
