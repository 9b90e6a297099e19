#include "support/mem_tree.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <vector>

namespace seendb {
namespace {

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

// One power cut.
class Cut {
 public:
  Cut(uint64_t seed, MemTear tear) : random_(seed), tear_(tear) {
    // All of it lost, all of it kept, or each by itself.
    const uint64_t way = random_() % 4;
    keep_percent_ = way == 0 || tear == MemTear::kNothing ? 0 : way == 1 ? 100 : 50;
  }

  void Apply(MemNode* node) {
    if (!done_.insert(node).second) return;
    if (!node->folder) {
      CutFile(node);
      return;
    }
    CutFolder(node);
    for (const auto& [name, child] : node->names) Apply(child.get());
    node->synced_names = node->names;
  }

 private:
  bool Keep() { return random_() % 100 < keep_percent_; }

  void CutFile(MemNode* node) {
    if (node->synced_before != nullptr && !Keep()) {
      node->bytes = std::make_shared<std::string>(*node->synced_before);
    } else if (node->synced < node->bytes->size() && !Keep()) {
      std::string& bytes = node->Own();
      const uint64_t lost = bytes.size() - node->synced;
      const uint64_t kept = node->synced + (keep_percent_ == 0 ? 0 : random_() % lost);
      if (tear_ == MemTear::kGarbage && random_() % 2 == 0) {
        const bool zeros = random_() % 2 == 0;
        for (uint64_t at = kept; at < bytes.size(); ++at) {
          bytes[at] = zeros ? '\0' : static_cast<char>(random_());
        }
      } else {
        bytes.resize(kept);
      }
    }
    node->Sync();
  }

  void CutFolder(MemNode* node) {
    MemNames after;
    const auto choose = [&](const std::string& name) {
      const auto now = node->names.find(name);
      const auto synced = node->synced_names.find(name);
      const bool same = now != node->names.end() && synced != node->synced_names.end() &&
                        now->second == synced->second;
      const auto& from = same || Keep() ? node->names : node->synced_names;
      const auto at = from.find(name);
      if (at != from.end()) after[name] = at->second;
    };
    for (const auto& [name, child] : node->names) choose(name);
    for (const auto& [name, child] : node->synced_names) {
      if (!node->names.contains(name)) choose(name);
    }
    // A rename happened or did not: what was renamed is under one of its names.
    std::set<const MemNode*> kept, now;
    for (const auto& [name, child] : after) kept.insert(child.get());
    for (const auto& [name, child] : node->names) now.insert(child.get());
    for (const auto& [name, child] : node->synced_names) {
      if (now.contains(child.get()) && !kept.contains(child.get())) after[name] = child;
    }
    node->names = std::move(after);
  }

  std::mt19937_64 random_;
  const MemTear tear_;
  uint64_t keep_percent_ = 50;
  std::set<const MemNode*> done_;
};

MemNodePtr CloneNode(const MemNodePtr& node, std::map<const MemNode*, MemNodePtr>* made) {
  MemNodePtr& copy = (*made)[node.get()];
  if (copy != nullptr) return copy;
  copy = std::make_shared<MemNode>(*node);
  const MemNodePtr held = copy;  // the map may move on
  for (auto& [name, child] : held->names) child = CloneNode(child, made);
  for (auto& [name, child] : held->synced_names) child = CloneNode(child, made);
  return held;
}

void Visit(const std::string& path, const MemNode& node,
           const std::function<void(const std::string&, const MemNode&)>& visit) {
  visit(path, node);
  for (const auto& [name, child] : node.names) {
    Visit(path == "/" ? path + name : path + "/" + name, *child, visit);
  }
}

}  // namespace

std::string& MemNode::Own() {
  if (bytes.use_count() > 1) bytes = std::make_shared<std::string>(*bytes);
  modified_s = static_cast<uint64_t>(std::time(nullptr));
  return *bytes;
}

void MemNode::Append(std::string_view more) { Own().append(more); }

void MemNode::Truncate(uint64_t size) {
  if (size < synced && synced_before == nullptr) {
    synced_before = std::make_shared<const std::string>(bytes->substr(0, synced));
  }
  Own().resize(size);
  synced = std::min(synced, size);
}

void MemNode::Sync() {
  synced = bytes->size();
  synced_before.reset();
}

MemTree::MemTree() : root_(std::make_shared<MemNode>()) { root_->folder = true; }

MemNodePtr MemTree::Find(std::string_view path) const {
  MemNodePtr at = root_;
  for (const std::string_view part : Split(path)) {
    const auto child = at->names.find(part);
    if (child == at->names.end()) return nullptr;
    at = child->second;
  }
  return at;
}

MemNodePtr MemTree::Parent(std::string_view path, std::string* name) const {
  std::vector<std::string_view> parts = Split(path);
  if (parts.empty()) return nullptr;
  *name = parts.back();
  parts.pop_back();
  MemNodePtr at = root_;
  for (const std::string_view part : parts) {
    const auto child = at->names.find(part);
    if (child == at->names.end() || !child->second->folder) return nullptr;
    at = child->second;
  }
  return at;
}

void MemTree::ForEach(const std::function<void(const std::string&, const MemNode&)>& visit) const {
  Visit("/", *root_, visit);
}

uint64_t MemTree::bytes() const {
  uint64_t sum = 0;
  std::set<const MemNode*> seen;
  ForEach([&](const std::string&, const MemNode& node) {
    if (seen.insert(&node).second) sum += node.bytes->size();
  });
  return sum;
}

void MemTree::PowerCut(uint64_t seed, MemTear tear) { Cut(seed, tear).Apply(root_.get()); }

MemTree MemTree::Clone() const {
  std::map<const MemNode*, MemNodePtr> made;
  MemTree copy;
  copy.root_ = CloneNode(root_, &made);
  return copy;
}

}  // namespace seendb
