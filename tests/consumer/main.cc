// The smallest program that embeds SeenDB, built against an installed and an added engine.

#include <iostream>
#include <vector>

#include <seendb/engine.h>

namespace {

int Fail(const char* what, const seendb::Status& status) {
  std::cerr << what << ": " << status.ToString() << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer FOLDER\n";
    return 2;
  }
  auto engine = seendb::Engine::Open(argv[1], {});
  if (!engine.ok()) return Fail("open", engine.status());

  const seendb::IdRef user("u1");
  const std::vector<seendb::Play> plays = {{user, seendb::IdRef("v1")},
                                           {user, seendb::IdRef(uint64_t{42})}};
  const auto recorded = (*engine)->RecordPlays(plays);
  if (!recorded.ok()) return Fail("record", recorded.status());

  const std::vector<seendb::IdRef> items = {seendb::IdRef("v1"), seendb::IdRef("v2"),
                                            seendb::IdRef("42"), seendb::IdRef("v3")};
  seendb::FilterRequest request;
  request.user = user;
  request.items = items;
  seendb::FilterResponse answer;
  for (const bool drained : {false, true}) {
    if (drained) {
      if (auto status = (*engine)->Drain(); !status.ok()) return Fail("drain", status);
    }
    if (auto status = (*engine)->Filter(request, &answer); !status.ok()) {
      return Fail("filter", status);
    }
    if (answer.unseen != std::vector<uint32_t>{1, 3} || answer.seen != 2 || answer.degraded) {
      std::cerr << "wrong answer " << (drained ? "after" : "before") << " the drain\n";
      return 1;
    }
  }
  if (auto status = (*engine)->Close(); !status.ok()) return Fail("close", status);
  std::cout << "unseen: v2 v3\n";
  return 0;
}
