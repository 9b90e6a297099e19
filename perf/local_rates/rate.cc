// Prints candidates a second of numbers and of texts, and how many of all were unseen: for `run`,
// with a dump's file, the key's version and secret, and the arguments of the others.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "seendb_local.hpp"

int main(int count, char** arguments) {
  if (count != 8) return 2;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::string dump((std::istreambuf_iterator<char>(file)), {});
  seendb_local_key key{};
  key.version = static_cast<uint32_t>(std::atoi(arguments[2]));
  const std::string secret = arguments[3];
  for (size_t i = 0; i < secret.size() / 2; ++i) {
    key.secret[i] = static_cast<uint8_t>(std::stoi(secret.substr(2 * i, 2), nullptr, 16));
  }
  const size_t items = std::stoul(arguments[4]), pages = std::stoul(arguments[5]);
  const size_t page = std::stoul(arguments[6]), rounds = std::stoul(arguments[7]);
  seendb_local::LocalFilter filter(key);
  if (filter.Take(dump.data(), dump.size()) != SEENDB_LOCAL_OK) return 1;
  size_t unseen = 0;
  for (const bool numbers : {true, false}) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < pages * page; ++i)
      texts.push_back("v" + std::to_string(i * 7'919 % items));
    std::vector<std::vector<seendb_local::Candidate>> asked(pages);
    for (size_t i = 0; i < pages * page; ++i) {
      seendb_local::Candidate& one = asked[i / page].emplace_back();
      if (numbers) {
        one.number = i * 7'919 % items;
      } else {
        one.id = texts[i];
      }
    }
    std::vector<double> rates;
    for (size_t round = 0; round < rounds; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      for (const auto& one : asked) unseen += filter.Unseen(one).size();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      rates.push_back(static_cast<double>(pages * page) / took.count());
    }
    const size_t half = rounds / 2;
    std::sort(rates.begin() + static_cast<std::ptrdiff_t>(half), rates.end());
    std::printf("%.0f ", rates[half + half / 2]);
  }
  std::printf("%zu\n", unseen);
  return 0;
}
