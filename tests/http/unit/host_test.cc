// Which authorities are a host: a name or an address, with a port or without.

#include "http/host.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

TEST(HostTest, NamesAndAddressesWithAPortOrWithout) {
  for (const char* const host : {"", "localhost", "seendb:7373", "Node-7.example.net",
                                 "a_b.internal.", "127.0.0.1", "10.1.2.3:80", "[::1]", "[::1]:7373",
                                 "[::ffff:10.0.0.1]:0", "h:65535", "xn--bcher-kva.ch"}) {
    EXPECT_TRUE(IsHost(host)) << host;
  }
}

TEST(HostTest, EverythingElseIsNone) {
  for (const char* const host : {"[::1].evil.example",
                                 "127.0.0.1:99@evil.example",
                                 "evil%2eexample",
                                 "a@b",
                                 "@",
                                 ":",
                                 ":80",
                                 "h:",
                                 "h:a",
                                 "h:-1",
                                 "h:+1",
                                 "h:65536",
                                 "h:1:2",
                                 "h: 1",
                                 "a b",
                                 "a,b",
                                 "a/b",
                                 "a?b",
                                 "a#b",
                                 "a..b",
                                 ".a",
                                 ".",
                                 "..",
                                 "[",
                                 "[]",
                                 "[::1",
                                 "[::1]x",
                                 "[::1]:",
                                 "[::1]80",
                                 "[::1]@a",
                                 "[evil.example]",
                                 "[127.0.0.1]",
                                 "[fe80::1%25eth0]",
                                 "::1",
                                 "b\xc3\xbc"
                                 "cher.ch",
                                 "http://h",
                                 "*",
                                 "a\\b",
                                 "\"a\"",
                                 "a\tb"}) {
    EXPECT_FALSE(IsHost(host)) << host;
  }
  EXPECT_FALSE(IsHost(std::string_view("a\0b", 3)));
  EXPECT_FALSE(IsHost(std::string_view("[::1\0]", 6)));
  EXPECT_TRUE(IsHost(std::string(253, 'a')));
  EXPECT_FALSE(IsHost(std::string(254, 'a')));
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
