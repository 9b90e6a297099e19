// Arbitrary bytes as the body of a Connect call: each method reads them as protobuf or as JSON. A
// message becomes a request of its route, and the same message again by both forms. The first byte
// chooses the method, its highest bit the form.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <google/protobuf/message.h>

#include "connect/codec.h"
#include "connect/methods.h"
#include "fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace seendb;
  using connect::Form;
  using fuzz::Check;
  connect::SilenceProtobuf();
  fuzz::Input input(data, size);
  const uint8_t choice = input.Byte();
  const connect::Method& method = connect::Methods()[(choice & 127u) % connect::Methods().size()];
  const auto message = method.make_request();
  const Form form = (choice & 128u) != 0 ? Form::kJson : Form::kProto;
  if (!connect::Decode(form, input.Rest(), message.get()).ok()) return 0;
  connect::RouteRequest to;
  if (method.to_route(*message, 1, &to).ok()) Check(to.target.starts_with("/"));
  for (const Form again : {Form::kProto, Form::kJson}) {
    std::string body;
    Check(connect::Encode(again, *message, &body).ok());
    const auto same = method.make_request();
    Check(connect::Decode(again, body, same.get()).ok());
    // Unknown fields are not written as JSON.
    std::string first, second;
    same->DiscardUnknownFields();
    message->DiscardUnknownFields();
    Check(connect::Encode(Form::kProto, *message, &first).ok());
    Check(connect::Encode(Form::kProto, *same, &second).ok());
    Check(first == second);
  }
  return 0;
}
