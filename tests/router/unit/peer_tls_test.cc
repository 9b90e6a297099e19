// The client that nodes ask each other with, over TLS: whom it trusts, what it says of others, and
// how often it shakes hands.

#include <future>
#include <variant>

#include <gtest/gtest.h>

#include "http/tls.h"
#include "http/unit/listener_fixture.h"
#include "net/client_tls.h"
#include "peers/peer_client.h"
#include "support/self_signed.h"

namespace seendb::peers::SEENDB_TEST_FILE {
namespace {

using http::ListenerTest;
using http::milliseconds;
using Kind = PeerAnswer::Kind;

class PeerTlsTest : public ListenerTest {
 protected:
  /// A node that has this certificate; with `client_ca`, others have to show one.
  void StartWith(const SelfSigned& own, const std::string& client_ca = "") {
    Start();
    auto loaded =
        http::LoadTls({.certificate = own.certificate(), .key = own.key(), .client_ca = client_ca});
    ASSERT_TRUE(std::holds_alternative<http::Tls>(loaded));
    listener_->SetTls(std::get<http::Tls>(loaded).context);
  }
  static net::TlsContext Trusting(const SelfSigned& ca) {
    return net::MakeTlsContext({.ca = ca.certificate()}).value();
  }
  PeerAnswer Ask(PeerClient* client, milliseconds timeout = milliseconds(20'000),
                 std::string body = "") const {
    std::promise<PeerAnswer> came;
    client->Ask({.node = "n2",
                 .url = "https://" + listener_->address(),
                 .target = "/x",
                 .body = std::move(body),
                 .timeout = timeout},
                [&came](PeerAnswer one) { came.set_value(std::move(one)); });
    return came.get_future().get();
  }
  void ExpectRefused(const SelfSigned& own, const SelfSigned& trusted, const std::string& why) {
    StartWith(own);
    PeerClient client({.tls = Trusting(trusted), .tls_named_by = "by a test"});
    const PeerAnswer answer = Ask(&client);
    EXPECT_EQ(answer.kind, Kind::kRefused);
    EXPECT_NE(answer.why.find("certificate is refused: " + why), std::string::npos) << answer.why;
    EXPECT_NE(answer.why.find("(by a test)"), std::string::npos) << answer.why;
    EXPECT_EQ(service_.handled, 0);
  }
};

TEST_F(PeerTlsTest, ManyRequestsMakeOneHandshake) {
  const SelfSigned own("IP:127.0.0.1");
  StartWith(own);
  PeerClient client({.tls = Trusting(own)});
  for (int i = 0; i < 50; ++i) {
    const PeerAnswer answer = Ask(&client, milliseconds(20'000), std::string(300'000, 'b'));
    ASSERT_EQ(answer.kind, Kind::kAnswered) << answer.why;
    EXPECT_GT(answer.body.size(), 300'000u);
  }
  EXPECT_EQ(listener_->counters().opened, 1u);
}

TEST_F(PeerTlsTest, ACertificateOfAnotherAuthorityIsRefused) {
  ExpectRefused(SelfSigned("IP:127.0.0.1"), SelfSigned("IP:127.0.0.1"), "self");
}

TEST_F(PeerTlsTest, ACertificateOfAnotherAddressIsRefused) {
  const SelfSigned own("IP:127.0.0.2,DNS:localhost");
  ExpectRefused(own, own, "IP address mismatch");
}

TEST_F(PeerTlsTest, ACertificateThatHasEndedIsRefused) {
  const SelfSigned own("IP:127.0.0.1", -1);
  ExpectRefused(own, own, "certificate has expired");
}

TEST_F(PeerTlsTest, WithoutTlsAnAddressOfHttpsIsRefused) {
  Start();
  PeerClient client({});
  EXPECT_EQ(Ask(&client).kind, Kind::kRefused);
}

TEST_F(PeerTlsTest, APeerThatSpeaksNoTlsIsRefused) {
  const SelfSigned own("IP:127.0.0.1");
  Start();
  PeerClient client({.tls = Trusting(own)});
  const PeerAnswer answer = Ask(&client);
  EXPECT_EQ(answer.kind, Kind::kRefused);
  EXPECT_EQ(answer.why.rfind("TLS: ", 0), 0u) << answer.why;
}

TEST_F(PeerTlsTest, WhomToTrustIsRenewed) {
  const SelfSigned own("IP:127.0.0.1"), other("IP:127.0.0.1");
  StartWith(own);
  PeerClient client({.tls = Trusting(other)});
  EXPECT_EQ(Ask(&client).kind, Kind::kRefused);
  client.SetTls(Trusting(own));
  EXPECT_EQ(Ask(&client).kind, Kind::kAnswered);
  client.SetTls(Trusting(other));  // the kept connection goes too
  EXPECT_EQ(Ask(&client).kind, Kind::kRefused);
}

TEST_F(PeerTlsTest, APeerThatAsksForACertificateIsShownOne) {
  const SelfSigned own("IP:127.0.0.1");
  StartWith(own, own.certificate());
  PeerClient nobody({.tls = Trusting(own)});
  EXPECT_NE(Ask(&nobody).kind, Kind::kAnswered);
  const auto showing = net::MakeTlsContext(
      {.ca = own.certificate(), .certificate = own.certificate(), .key = own.key()});
  PeerClient client({.tls = *showing});
  const PeerAnswer answer = Ask(&client);
  EXPECT_EQ(answer.kind, Kind::kAnswered) << answer.why;
}

TEST_F(PeerTlsTest, AFileThatIsNoCertificateIsNamed) {
  const SelfSigned own("IP:127.0.0.1");
  const auto absent = net::MakeTlsContext({.ca = own.certificate() + ".absent"});
  EXPECT_EQ(absent.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(absent.status().field(), "/ca");
  const auto key = net::MakeTlsContext(
      {.ca = own.certificate(), .certificate = own.certificate(), .key = own.certificate()});
  EXPECT_EQ(key.status().field(), "/key");
}

}  // namespace
}  // namespace seendb::peers::SEENDB_TEST_FILE
