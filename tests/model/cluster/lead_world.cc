#include "model/cluster/lead_world.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "cluster/routing_table.h"
#include "router/takeovers.h"

namespace seendb::cluster_model {
namespace {

constexpr int kNobody = -1;

bool Has(uint8_t mask, int bit) { return (mask >> bit & 1) != 0; }
void Set(uint8_t* mask, int bit) { *mask = static_cast<uint8_t>(*mask | 1 << bit); }
void Clear(uint8_t* mask, int bit) { *mask = static_cast<uint8_t>(*mask & ~(1 << bit)); }

const cluster::Meta& TheMeta() {
  static const cluster::Meta meta = FoldOf({}, {}, 0);
  return meta;
}

Said SaidBy(const LeadState& state, int node) {
  Said said;
  said.known = 1;
  said.up = Has(state.up, node);
  if (node >= kHolders) return said;
  said.replica = !Has(state.caught_up, node) ? kCatchingUp
                 : Has(state.behind, node)   ? kBehind
                                             : kServing;
  said.next = said.replica == kBehind ? state.next[node] : 0;  // who is behind is asked by that
  said.cut_off = Has(state.cut_off, node);
  return said;
}

Views ViewsAt(const LeadState& state, int node) {
  Views views;
  std::copy(std::begin(state.views[node]), std::end(state.views[node]), views.begin());
  views[static_cast<size_t>(node)] = SaidBy(state, node);
  return views;
}

// ---- Whom a node asks, by the server's functions ----

struct Routes {
  int leader = kNobody;
  bool taken_over = false;
  std::vector<int> reads;
};

std::string KeyOf(int node, const Views& views) {
  std::string key(1, static_cast<char>(node));
  return key.append(reinterpret_cast<const char*>(views.data()), sizeof views);
}

const Routes& RoutesOf(const LeadState& state, int node) {
  static std::unordered_map<std::string, Routes> known;
  const Views views = ViewsAt(state, node);
  std::string key = KeyOf(node, views);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const cluster::RoutingTable table(NameOf(node), TheMeta(), ViewsOf(views), nullptr);
  const cluster::PartitionRoutes& all = table.of(0);
  Routes routes;
  if (all.leader) routes.leader = NumberOf(all.leader->node);
  routes.taken_over = all.taken_over;
  for (const cluster::Holder& one : all.reads) routes.reads.push_back(NumberOf(one.node));
  return known.emplace(std::move(key), std::move(routes)).first->second;
}

/// Whether another node leads than before, as the node sees it: the term of its table grows.
bool IsAnotherTerm(const LeadState& before, const LeadState& after, int node) {
  static std::unordered_map<std::string, bool> known;
  const Views was = ViewsAt(before, node), is = ViewsAt(after, node);
  if (was == is) return false;
  std::string key = KeyOf(node, was) + KeyOf(node, is);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const cluster::RoutingTable former(NameOf(node), TheMeta(), ViewsOf(was), nullptr);
  const cluster::RoutingTable table(NameOf(node), TheMeta(), ViewsOf(is), &former);
  return known.emplace(std::move(key), former.of(0).term != table.of(0).term).first->second;
}

bool Leads(const LeadState& state, int node) { return RoutesOf(state, node).leader == node; }

/// Whether all nodes that are up take this one for the leader.
bool AllAgreeOn(const LeadState& state, int leader) {
  for (int node = 0; node < kNodes; ++node) {
    if (Has(state.up, node) && RoutesOf(state, node).leader != leader) return false;
  }
  return true;
}

template <typename Do>
bool Alter(LeadState* state, Do change) {
  const LeadState before = *state;
  if (!change()) return false;
  for (int node = 0; node < kNodes; ++node) {
    if (IsAnotherTerm(before, *state, node)) Clear(&state->ticked, node);
  }
  return true;
}

void ApplyNext(LeadState* state, int node) {
  const int offset = state->next[node]++;
  if (!Has(state->awaited[node], offset)) return;
  Clear(&state->awaited[node], offset);
  Set(&state->acked, offset);
  if (!AllAgreeOn(*state, node)) Set(&state->late, offset);
}

// ---- Rows ----

bool DoWrite(const Bounds& bounds, const Action& action, LeadState* state) {
  if (!Has(state->up, action.node) || state->count >= bounds.records) return false;
  const int leader = RoutesOf(*state, action.node).leader;
  if (leader == kNobody || leader >= kHolders || !Has(state->up, leader)) return false;
  if (Has(state->cut, leader)) return false;
  Set(&state->awaited[leader], state->count++);
  return true;
}

bool DoApply(const Bounds&, const Action& action, LeadState* state) {
  const int node = action.node;
  if (node >= kHolders || !Has(state->up, node) || Has(state->cut, node)) return false;
  if (state->next[node] >= state->count) return false;
  return Alter(state, [&] { return ApplyNext(state, node), true; });
}

// It asks where the log ends.
bool DoHear(const Bounds&, const Action& action, LeadState* state) {
  const int node = action.node;
  if (node >= kHolders || !Has(state->up, node) || Has(state->cut, node)) return false;
  const LeadState before = *state;
  return Alter(state, [&] {
    Clear(&state->cut_off, node);
    if (state->next[node] == state->count) {
      Set(&state->caught_up, node);
      Clear(&state->behind, node);
    }
    return std::memcmp(&before, state, sizeof before) != 0;
  });
}

// 3 s pass in which it does not come to the log's end.
bool DoLag(const Bounds&, const Action& action, LeadState* state) {
  const int node = action.node;
  if (node >= kHolders || !Has(state->up, node) || Has(state->behind, node)) return false;
  if (!Has(state->cut, node) && state->next[node] == state->count) return false;
  return Alter(state, [&] {
    Set(&state->behind, node);
    if (Has(state->cut, node)) Set(&state->cut_off, node);
    return true;
  });
}

// The log takes no record from it.
bool DoFailAppend(const Bounds&, const Action& action, LeadState* state) {
  const int node = action.node;
  if (node >= kHolders || !Has(state->up, node) || !Has(state->cut, node)) return false;
  if (Has(state->cut_off, node)) return false;
  return Alter(state, [&] { return Set(&state->cut_off, node), true; });
}

bool DoProbe(const Bounds&, const Action& action, LeadState* state) {
  if (!Has(state->up, action.node)) return false;
  Said& view = state->views[action.node][action.other];
  Said said = SaidBy(*state, action.other);
  if (said.up == 0) {
    said = view;
    said.up = 0;
  }
  if (said == view) return false;
  return Alter(state, [&] { return view = said, true; });
}

bool DoCut(const Bounds& bounds, const Action& action, LeadState* state) {
  if (action.node >= kHolders || Has(state->cut, action.node)) return false;
  if (state->faults >= bounds.faults) return false;
  ++state->faults;
  Set(&state->cut, action.node);
  return true;
}

bool DoMend(const Bounds&, const Action& action, LeadState* state) {
  if (!Has(state->cut, action.node)) return false;
  Clear(&state->cut, action.node);
  return true;
}

bool DoCrash(const Bounds& bounds, const Action& action, LeadState* state) {
  const int node = action.node;
  if (node >= kHolders || !Has(state->up, node) || state->faults >= bounds.faults) return false;
  ++state->faults;
  for (uint8_t* mask :
       {&state->up, &state->caught_up, &state->behind, &state->cut_off, &state->ticked}) {
    Clear(mask, node);
  }
  state->awaited[node] = 0;
  for (Said& said : state->views[node]) said = {};
  return true;
}

bool DoStart(const Bounds&, const Action& action, LeadState* state) {
  if (Has(state->up, action.node)) return false;
  Set(&state->up, action.node);
  return true;
}

bool DoAsk(const Bounds&, const Action& action, LeadState* state) {
  return Ask(action, NeedsTick, state);
}

// ---- Invariants ----

bool NothingIsMissed(const Bounds&, const LeadState& state) { return state.missed == 0; }

bool WhoCanAppendLeads(const Bounds&, const LeadState& state) {
  for (int node = 0; node < kNodes; ++node) {
    if (Has(state.up, node) && !MayLead(state, node, RoutesOf(state, node).leader)) return false;
  }
  return true;
}

struct Invariant {
  std::string_view sentence;
  bool (*Holds)(const Bounds& bounds, const LeadState& state);
};
constexpr Invariant kInvariants[] = {
    {"What was acknowledged is seen by the next question at any node while the nodes agree on the "
     "primary",
     NothingIsMissed},
    {"A replica that is cut off from the log leads only where all are", WhoCanAppendLeads},
};

}  // namespace

bool NeedsTick(bool leads, bool ticked, bool failover) {
  static const auto takeovers = std::make_unique<router::Takeovers>();
  cluster::PartitionRoutes routes;
  routes.leader = cluster::Holder{.node = "n0", .here = true};
  routes.term = 1;
  if (ticked) takeovers->Applied(0, routes);
  routes.term = ticked ? 1 : 2;
  routes.leader->here = leads;
  return takeovers->InDoubt(0, routes, failover);
}

bool Ask(const Action& action, bool (*needs_tick)(bool leads, bool ticked, bool failover),
         LeadState* state) {
  const int asked = action.node;
  if (!Has(state->up, asked)) return false;
  const LeadState before = *state;
  const Routes routes = RoutesOf(*state, asked);
  const int leader = routes.leader;
  // A replica that serves and can't lead is asked before a leader that lags.
  const bool serves =
      leader != kNobody && ViewsAt(*state, asked)[static_cast<size_t>(leader)].replica == kServing;
  const bool agreed = serves && AllAgreeOn(*state, leader);
  bool failover = false;
  Alter(state, [&] {
    for (const int node : routes.reads) {
      if (!Has(state->up, node)) {  // refused
        state->views[asked][node].up = 0;
        failover = true;
        continue;
      }
      const bool passed_on = node != asked && routes.taken_over;
      const bool leads = Leads(*state, node);
      const bool doubt = needs_tick(leads, Has(state->ticked, node), failover || passed_on);
      if (doubt && Has(state->cut, node)) return true;  // missing: behind
      if (doubt) {
        while (state->next[node] < state->count) ApplyNext(state, node);
        if (leads) Set(&state->ticked, node);
      }
      const uint8_t applied = static_cast<uint8_t>((1 << state->next[node]) - 1);
      const uint8_t owed = before.acked & static_cast<uint8_t>(~before.late);
      if (agreed && (owed & ~applied) != 0) state->missed = 1;
      return true;
    }
    return true;  // missing: partition
  });
  return std::memcmp(&before, state, sizeof before) != 0;
}

bool MayLead(const LeadState& state, int node, int leader) {
  const Views views = ViewsAt(state, node);
  if (leader == kNobody || views[static_cast<size_t>(leader)].cut_off == 0) return true;
  return std::none_of(views.begin(), views.begin() + kHolders, [](const Said& said) {
    const bool could = said.replica == kServing || said.replica == kBehind;
    return said.up != 0 && could && said.cut_off == 0;
  });
}

LeadState LeadWorld::Initial(const Bounds&) {
  LeadState state{};
  state.up = 7;
  state.caught_up = 3;
  for (int node = 0; node < kNodes; ++node) {
    for (int other = 0; other < kNodes; ++other) {
      if (other != node) state.views[node][other] = SaidBy(state, other);
    }
  }
  return state;
}

Table<LeadState> LeadWorld::Rows() {
  return {
      {"write", kNode, DoWrite}, {"apply", kNode, DoApply},
      {"hear", kNode, DoHear},   {"lag", kNode, DoLag},
      {"cut", kNode, DoCut},     {"fail-append", kNode, DoFailAppend},
      {"mend", kNode, DoMend},   {"probe", kNode | kOther, DoProbe},
      {"crash", kNode, DoCrash}, {"start", kNode, DoStart},
      {"ask", kNode, DoAsk},
  };
}

std::string_view LeadWorld::Violated(const Bounds& bounds, const State& state) {
  for (const Invariant& one : kInvariants) {
    if (!one.Holds(bounds, state)) return one.sentence;
  }
  return {};
}

std::string LeadWorld::Text(const Bounds&, const State& state) {
  std::string text = "log of " + std::to_string(state.count) + ", acked " +
                     std::to_string(state.acked) + ", of these late " + std::to_string(state.late) +
                     "\n";
  for (int node = 0; node < kNodes; ++node) {
    const Routes& routes = RoutesOf(state, node);
    text += "  n" + std::to_string(node) + (Has(state.up, node) ? " up" : " down") +
            (Has(state.cut, node) ? " cut" : "") + (Has(state.ticked, node) ? " ticked" : "") +
            ", sees n" + std::to_string(routes.leader) + " lead";
    if (node < kHolders) text += ", next " + std::to_string(state.next[node]);
    text += "\n";
  }
  return text;
}

}  // namespace seendb::cluster_model
