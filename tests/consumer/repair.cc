// The smallest program that repairs a database, built against an installed and an added
// seendb::recovery. It expects a database that has damage, and leaves one that has none.

#include <iostream>

#include <seendb/repair.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: repairer FOLDER\n";
    return 2;
  }
  const auto found = seendb::VerifyFiles(argv[1]);
  if (!found.ok() || found->damages.empty()) {
    std::cerr << "verify: " << found.status().ToString() << ", no damage found\n";
    return 1;
  }
  const auto repaired = seendb::Repair(argv[1], {});
  if (!repaired.ok() || repaired->files.empty()) {
    std::cerr << "repair: " << repaired.status().ToString() << "\n";
    return 1;
  }
  const auto left = seendb::VerifyFiles(argv[1]);
  if (!left.ok() || !left->damages.empty()) {
    std::cerr << "verify after the repair: " << left.status().ToString() << "\n";
    return 1;
  }
  std::cout << "repaired: " << repaired->files.front().damage.file << "\n";
  return 0;
}
