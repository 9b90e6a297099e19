// What the command line says of a mistyped word.

#include "flags.h"

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

/// A line with two commands, one of them with a command below it.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() : line_("tool", "", "", "1") {
    Command check = line_.root().AddCommand("check", "", [] {});
    check.Add("user", user_, "").Required();
    check.Add("--collection", collection_, "");
    Command list = line_.root().AddCommand("collections", "", [] {});
    list.AddCommand("put", "", [] {});
    list.AddCommand("get", "", [] {});
    line_.root().AddCommand("ldb", "", [] {}).PassTheRest(rest_);
  }

  std::string ErrorOf(std::vector<const char*> args) {
    args.insert(args.begin(), "tool");
    const Parsed parsed = line_.Parse(static_cast<int>(args.size()), args.data(), false);
    return parsed == Parsed::kRefused ? line_.error() : "ran";
  }

  std::string user_, collection_;
  std::vector<std::string> rest_;
  CommandLine line_;
};

TEST_F(CommandLineTest, UnknownCommands) {
  EXPECT_EQ(ErrorOf({"chekc", "u1"}), "unknown command `chekc`; did you mean `check`?");
  EXPECT_EQ(ErrorOf({"zzzzzz"}), "unknown command `zzzzzz`");
  EXPECT_EQ(ErrorOf({"collections", "ptu"}),
            "unknown command `ptu` of `collections`; did you mean `put`?");
  EXPECT_EQ(ErrorOf({"collections", "list"}),
            "unknown command `list` of `collections`; known: put, get");
  EXPECT_EQ(ErrorOf({"collections", "put"}), "ran");
}

TEST_F(CommandLineTest, UnknownOptions) {
  EXPECT_EQ(ErrorOf({"check", "u1", "--colection", "x"}),
            "unknown option `--colection` of `check`; did you mean `--collection`?");
  EXPECT_EQ(ErrorOf({"check", "--colection=x"}),
            "unknown option `--colection` of `check`; did you mean `--collection`?")
      << "the argument that is missing is told afterwards";
  EXPECT_EQ(ErrorOf({"check", "u1", "--zzzzzz"}), "unknown option `--zzzzzz` of `check`");
  EXPECT_EQ(ErrorOf({"--hlep", "check", "u1"}), "unknown option `--hlep`; did you mean `--help`?");
  EXPECT_EQ(ErrorOf({"check", "u1", "u2"}), "unexpected argument `u2` of `check`");
}

TEST_F(CommandLineTest, WhatIsMissingIsToldAsBefore) {
  EXPECT_EQ(ErrorOf({}), "A subcommand is required");
  EXPECT_EQ(ErrorOf({"check"}), "user is required");
}

TEST_F(CommandLineTest, TheRestIsPassedAsItIs) {
  EXPECT_EQ(ErrorOf({"ldb", "scna", "--hxe"}), "ran");
  EXPECT_EQ(rest_, (std::vector<std::string>{"scna", "--hxe"}));
}

TEST_F(CommandLineTest, DescribesItself) {
  const CommandTree tree = line_.root().Describe();
  ASSERT_EQ(tree.commands.size(), 3u);
  EXPECT_EQ(tree.commands[0].name, "check");
  EXPECT_EQ(tree.commands[0].arguments.size(), 1u);
  EXPECT_EQ(tree.commands[0].options.back().names, std::vector<std::string>{"--collection"});
  EXPECT_EQ(tree.commands[1].commands[0].name, "put");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
