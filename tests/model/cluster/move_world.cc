#include "model/cluster/move_world.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/empty_start.h"
#include "cluster/placement.h"
#include "cluster/view.h"

namespace seendb::cluster_model {
namespace {

// The moves that a command may ask for: of partition 0 all, of partition 1 one.
struct Move {
  int partition, from, to;
};
constexpr Move kMoves[] = {{0, 0, 2}, {0, 1, 2}, {0, 2, 0}, {0, 1, 0},
                           {0, 2, 1}, {0, 0, 1}, {1, 2, 0}};
constexpr int64_t kLater = int64_t{1} << 40;

bool Has(uint8_t mask, int bit) { return (mask >> bit & 1) != 0; }
void Set(uint8_t* mask, int bit) { *mask = static_cast<uint8_t>(*mask | 1 << bit); }
void Clear(uint8_t* mask, int bit) { *mask = static_cast<uint8_t>(*mask & ~(1 << bit)); }

Changes ChangesOf(const MoveState& state) {
  Changes changes;
  std::copy(std::begin(state.changes), std::end(state.changes), changes.begin());
  return changes;
}
const cluster::Meta& MetaAt(const Bounds& bounds, const MoveState& state, int read) {
  return FoldOf({.has_past = bounds.has_past}, ChangesOf(state), read);
}
const cluster::Meta& MetaAtNode(const Bounds& bounds, const MoveState& state, int node) {
  return MetaAt(bounds, state, state.read[node]);
}

bool Runs(const MoveState& state, int node) {
  return Has(state.up, node) && !Has(state.opening, node);
}

/// The node's answer to a probe.
Said SaidBy(const MoveState& state, int node) {
  Said said;
  said.known = 1;
  said.up = Has(state.up, node);
  said.opening = Has(state.opening, node);
  said.replica = said.opening != 0 ? uint8_t{kNone} : state.replica[node];
  said.read = state.read[node];
  said.incarnation = state.starts[node];
  return said;
}

Views ViewsAt(const MoveState& state, int node) {
  Views views;
  std::copy(std::begin(state.views[node]), std::end(state.views[node]), views.begin());
  views[static_cast<size_t>(node)] = SaidBy(state, node);
  return views;
}

// ---- What the node decides, by the server's functions ----

struct Decided {
  bool fetches = false, drops = false;
  uint8_t since = 0;
  std::vector<int> sources;  ///< whom it asks for a copy
};

cluster::ServingSince SinceOf(const Bounds& bounds, const MoveState& state, int node) {
  cluster::ServingSince serving;
  if (state.since[node] == 0) return serving;
  std::vector<cluster::ReplicaView> wanted;
  const int placement = (state.since[node] >> 1) - 1;
  for (const std::string& name : MetaAt(bounds, state, placement).placement().assign[0]) {
    cluster::ReplicaView& one = wanted.emplace_back();
    one.node = name;
    one.wanted = one.informed = true;
    one.report.state = cluster::ReplicaState::kServing;
  }
  serving.Note(0, wanted, 0);
  return serving;
}

Decided Decide(const Bounds& bounds, const MoveState& state, int node) {
  Decided decided;
  const cluster::Meta& meta = MetaAtNode(bounds, state, node);
  const auto replicas = cluster::ReplicasOf(0, meta, ViewsOf(ViewsAt(state, node)));
  cluster::ServingSince serving = SinceOf(bounds, state, node);
  const bool was_long = (state.since[node] & 1) != 0;
  const int64_t now_ms = was_long ? cluster::kDropAfterMs : cluster::kDropAfterMs - 1;
  serving.Note(0, replicas, now_ms);
  if (serving.LongEnough(0, kLater)) {
    const bool goes_on = state.since[node] != 0 && serving.LongEnough(0, cluster::kDropAfterMs);
    decided.since = static_cast<uint8_t>((BaseOf(meta) + 1) << 1 | (goes_on && was_long));
  }
  std::set<uint32_t> held{1};  // partition 1 is not looked at
  if (state.replica[node] != kNone) held.insert(0);
  const auto plan = cluster::PlanShards(NameOf(node), meta, held, {}, serving, now_ms);
  decided.fetches = std::count(plan.fetch.begin(), plan.fetch.end(), 0U) > 0;
  decided.drops = std::count(plan.drop.begin(), plan.drop.end(), 0U) > 0;
  for (const size_t at : cluster::CopyOrder(replicas)) {
    decided.sources.push_back(NumberOf(replicas[at].node));
  }
  return decided;
}

/// The same, kept by what it goes by.
const Decided& DecidedBy(const Bounds& bounds, const MoveState& state, int node) {
  static std::unordered_map<std::string, Decided> known;
  std::string key;
  const auto add = [&](const void* bytes, size_t size) {
    key.append(static_cast<const char*>(bytes), size);
  };
  const Views views = ViewsAt(state, node);
  add(views.data(), sizeof views);
  add(state.changes, sizeof state.changes);
  for (const int one : {node, int{state.read[node]}, int{state.since[node]},
                        int{state.replica[node]}, int{bounds.has_past}}) {
    key.push_back(static_cast<char>(one));
  }
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(std::move(key), Decide(bounds, state, node)).first->second;
}

/// The node's EmptyStart, made anew from what was said when.
cluster::EmptyStart EmptyStartOf(const Bounds& bounds, const MoveState& state, int node) {
  cluster::EmptyStart empty;
  Views views = ViewsAt(state, node);
  const Views last = views;
  for (uint8_t moment = 1; moment <= 2 * kNodes; ++moment) {
    std::array<int64_t, kNodes> at_ms{};
    bool any = false;
    for (int other = 0; other < bounds.nodes; ++other) {
      if (other == node) continue;
      const uint8_t from = state.said_from[node][other], to = state.said_to[node][other];
      any = any || from == moment || to == moment;
      const bool said = from != 0 && from <= moment;
      const auto at = static_cast<size_t>(other);
      views[at] = said ? last[at] : Said{};
      at_ms[at] = to <= moment ? to : from;
    }
    if (any) {
      empty.Note(NameOf(node), 0, MetaAtNode(bounds, state, node), ViewsOf(views, at_ms));
    }
  }
  std::array<int64_t, kNodes> at_ms{};
  for (int other = 0; other < bounds.nodes; ++other) {
    at_ms[static_cast<size_t>(other)] = state.said_to[node][other];
  }
  empty.Note(NameOf(node), 0, MetaAtNode(bounds, state, node), ViewsOf(last, at_ms));
  return empty;
}

// ---- Bookkeeping ----

bool Wants(const Bounds& bounds, const MoveState& state, int node) {
  const auto& list = MetaAtNode(bounds, state, node).placement().assign[0];
  return std::find(list.begin(), list.end(), NameOf(node)) != list.end();
}

// Moments become ranks, in their order.
void Rank(uint8_t (*from)[kNodes], uint8_t (*to)[kNodes]) {
  std::vector<uint8_t> moments;
  for (int node = 0; node < kNodes; ++node) {
    for (const uint8_t at : {(*from)[node], (*to)[node]}) {
      if (at != 0) moments.push_back(at);
    }
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  for (int node = 0; node < kNodes; ++node) {
    for (uint8_t* at : {&(*from)[node], &(*to)[node]}) {
      if (*at == 0) continue;
      const auto place = std::lower_bound(moments.begin(), moments.end(), *at);
      *at = static_cast<uint8_t>(place - moments.begin() + 1);
    }
  }
}

// Only who may fetch or drop the shard looks at the others: what it has to see for that, it sees
// behind the placement that says so.
void Settle(const Bounds& bounds, MoveState* state) {
  for (int node = 0; node < bounds.nodes; ++node) {
    const bool has = state->replica[node] != kNone;
    if (!Runs(*state, node) || Wants(bounds, *state, node) == has) {
      for (Said& said : state->views[node]) said = {};
      state->since[node] = 0;
    } else {
      state->since[node] = DecidedBy(bounds, *state, node).since;
    }
    if (!Runs(*state, node) || has) {
      std::fill(std::begin(state->said_from[node]), std::end(state->said_from[node]), uint8_t{0});
      std::fill(std::begin(state->said_to[node]), std::end(state->said_to[node]), uint8_t{0});
    }
  }
}

bool Settled(const Bounds& bounds, MoveState* state) {
  Settle(bounds, state);
  return true;
}

// ---- Rows ----

// A command reads X.meta to its end and decides; it writes later.
bool DoPropose(const Bounds& bounds, const Action& action, MoveState* state) {
  const Move& move = kMoves[action.what];
  const int drafts = static_cast<int>(std::count_if(
      std::begin(state->drafts), std::end(state->drafts), [](Change one) { return one != 0; }));
  if (drafts == kDrafts || state->written + drafts >= bounds.changes) return false;
  const cluster::Meta& meta = MetaAt(bounds, *state, state->written);
  const auto moved =
      cluster::MoveReplica(meta.placement().assign, static_cast<uint32_t>(move.partition),
                           NameOf(move.from), NameOf(move.to));
  if (!moved.ok()) return false;
  state->drafts[0] = MoveOf(BaseOf(meta), move.partition, move.from, move.to);
  std::sort(std::begin(state->drafts), std::end(state->drafts));
  return true;
}

bool DoWrite(const Bounds& bounds, const Action& action, MoveState* state) {
  if (action.what >= kDrafts || state->drafts[action.what] == 0) return false;
  if (action.what == 0 && state->drafts[0] == state->drafts[1]) return false;  // as the other
  const int at = state->written++;
  state->changes[at] = std::exchange(state->drafts[action.what], Change{0});
  std::sort(std::begin(state->drafts), std::end(state->drafts));
  if (Counted({.has_past = bounds.has_past}, ChangesOf(*state), at)) Set(&state->told, at);
  return true;
}

bool DoReadMeta(const Bounds& bounds, const Action& action, MoveState* state) {
  if (!Runs(*state, action.node) || state->read[action.node] >= state->written) return false;
  ++state->read[action.node];
  return Settled(bounds, state);
}

bool DoProbe(const Bounds& bounds, const Action& action, MoveState* state) {
  const int node = action.node, other = action.other;
  const bool has = state->replica[node] != kNone;
  if (!Runs(*state, node) || Wants(bounds, *state, node) == has) return false;
  Said said = SaidBy(*state, other);
  Said& view = state->views[node][other];
  if (said.up == 0) {  // what it said last stands
    said = view;
    said.up = 0;
  }
  const bool none = said.up != 0 && said.opening == 0 && said.replica == kNone;
  if (!has) {
    uint8_t& from = state->said_from[node][other];
    uint8_t& to = state->said_to[node][other];
    if (!none) {
      from = to = 0;
    } else {
      to = 2 * kNodes;
      if (from == 0 || view.incarnation != said.incarnation) from = to;
    }
    Rank(&state->said_from[node], &state->said_to[node]);
  }
  view = said;
  return Settled(bounds, state);
}

bool DoFetch(const Bounds& bounds, const Action& action, MoveState* state) {
  const int node = action.node;
  if (!Runs(*state, node)) return false;
  const Decided& decided = DecidedBy(bounds, *state, node);
  if (!decided.fetches) return false;
  for (const int source : decided.sources) {
    const uint8_t standing = state->replica[source];
    if (!Runs(*state, source) || standing == kNone || source == node) continue;
    state->replica[node] = kCatchingUp;
    state->origin[node] = state->origin[source];
    return Settled(bounds, state);
  }
  return false;
}

bool DoCatchUp(const Bounds& bounds, const Action& action, MoveState* state) {
  uint8_t& replica = state->replica[action.node];
  if (!Runs(*state, action.node) || replica == kNone || replica == kServing) return false;
  replica = kServing;
  return Settled(bounds, state);
}

bool DoLag(const Bounds& bounds, const Action& action, MoveState* state) {
  uint8_t& replica = state->replica[action.node];
  if (!Runs(*state, action.node) || replica != kServing) return false;
  replica = kBehind;
  return Settled(bounds, state);
}

// A minute in which nothing else happens: each node has answered the node's probes meanwhile.
bool DoMinute(const Bounds& bounds, const Action& action, MoveState* state) {
  const int node = action.node;
  if (state->since[node] == 0 || (state->since[node] & 1) != 0) return false;
  for (int other = 0; other < bounds.nodes; ++other) {
    const Said& view = state->views[node][other];
    const Said said = SaidBy(*state, other);
    if (other != node && !(view == said || (view.up == 0 && said.up == 0))) return false;
  }
  state->since[node] |= 1;
  return Settled(bounds, state);
}

bool DoDrop(const Bounds& bounds, const Action& action, MoveState* state) {
  if (!Runs(*state, action.node) || !DecidedBy(bounds, *state, action.node).drops) return false;
  state->replica[action.node] = kNone;
  state->origin[action.node] = kNowhere;
  return Settled(bounds, state);
}

// Keeper::CheckNobodyHas: X.meta is read to its end before anything is believed.
bool DoBeginEmpty(const Bounds& bounds, const Action& action, MoveState* state) {
  const int node = action.node;
  if (!Runs(*state, node) || !DecidedBy(bounds, *state, node).fetches) return false;
  state->read[node] = state->written;
  const cluster::EmptyStart empty = EmptyStartOf(bounds, *state, node);
  if (!empty.Objection(MetaAtNode(bounds, *state, node), 2 * kNodes).empty()) return false;
  for (int other = 0; other < bounds.nodes; ++other) {
    if (other != node && state->origin[other] == kOfOld) state->began_beside = 1;
  }
  state->replica[node] = kCatchingUp;
  state->origin[node] = kBegunEmpty;
  return Settled(bounds, state);
}

bool DoCrash(const Bounds& bounds, const Action& action, MoveState* state) {
  if (!Has(state->up, action.node) || state->faults >= bounds.faults) return false;
  ++state->faults;
  Clear(&state->up, action.node);
  Clear(&state->opening, action.node);
  return Settled(bounds, state);
}

bool DoLoseDisk(const Bounds& bounds, const Action& action, MoveState* state) {
  if (state->replica[action.node] == kNone || !DoCrash(bounds, action, state)) return false;
  state->replica[action.node] = kNone;
  state->origin[action.node] = kNowhere;
  state->disks_lost = 1;
  return Settled(bounds, state);
}

bool DoStart(const Bounds& bounds, const Action& action, MoveState* state) {
  if (Has(state->up, action.node)) return false;
  Set(&state->up, action.node);
  Set(&state->opening, action.node);
  ++state->starts[action.node];
  return Settled(bounds, state);
}

bool DoOpened(const Bounds& bounds, const Action& action, MoveState* state) {
  if (!Has(state->opening, action.node)) return false;
  Clear(&state->opening, action.node);
  if (state->replica[action.node] != kNone) state->replica[action.node] = kCatchingUp;
  return Settled(bounds, state);
}

// ---- Invariants ----

// A change goes by the placement of the change at `base`; 0: by the first.
bool OnePlacementWins(const Bounds& bounds, const MoveState& state) {
  int in_force = 0;
  for (int at = 0; at < state.written; ++at) {
    const int base = state.changes[at] >> 5 & 3;
    if (Has(state.told, at) != (base == in_force)) return false;
    if (Has(state.told, at)) in_force = at + 1;
  }
  return BaseOf(MetaAt(bounds, state, state.written)) == in_force;
}

bool BeginsEmptyAlone(const Bounds& bounds, const MoveState& state) {
  const bool begun = std::count(std::begin(state.origin), std::end(state.origin), kBegunEmpty) > 0;
  return state.began_beside == 0 && !(bounds.has_past && begun);
}

bool ACopyIsThere(const Bounds&, const MoveState& state) {
  return state.disks_lost != 0 ||
         std::count(std::begin(state.origin), std::end(state.origin), kOfOld) > 0;
}

// Holds as long as no node died: each asks, by what it knows, at least one that answers.
bool OneAnswers(const Bounds& bounds, const MoveState& state) {
  if (state.faults != 0) return true;
  return std::any_of(state.replica, state.replica + bounds.nodes,
                     [](uint8_t one) { return one == kServing || one == kBehind; });
}

struct Invariant {
  std::string_view sentence;
  bool (*Holds)(const Bounds& bounds, const MoveState& state);
};
constexpr Invariant kInvariants[] = {
    {"Of two placements that are written at once, the first in the topic counts", OnePlacementWins},
    {"A node begins a shard empty only where no node has it", BeginsEmptyAlone},
    {"A move never takes the last copy", ACopyIsThere},
    {"A node serves on until all that are to have the shard have been serving", OneAnswers},
};

}  // namespace

MoveState MoveWorld::Initial(const Bounds&) {
  MoveState state{};
  state.up = 7;
  for (const int node : {0, 1}) {
    state.replica[node] = kServing;
    state.origin[node] = kOfOld;
  }
  return state;
}

Table<MoveState> MoveWorld::Rows() {
  return {
      {"propose", kWhat, DoPropose},
      {"write", kWhat, DoWrite},
      {"read-meta", kNode, DoReadMeta},
      {"probe", kNode | kOther, DoProbe},
      {"fetch", kNode, DoFetch},
      {"catch-up", kNode, DoCatchUp},
      {"lag", kNode, DoLag},
      {"minute", kNode, DoMinute},
      {"drop", kNode, DoDrop},
      {"begin-empty", kNode, DoBeginEmpty},
      {"crash", kNode, DoCrash},
      {"lose-disk", kNode, DoLoseDisk},
      {"start", kNode, DoStart},
      {"opened", kNode, DoOpened},
  };
}

int MoveWorld::Whats(const Bounds&) { return static_cast<int>(std::size(kMoves)); }

std::string_view MoveWorld::Violated(const Bounds& bounds, const State& state) {
  for (const Invariant& one : kInvariants) {
    if (!one.Holds(bounds, state)) return one.sentence;
  }
  return {};
}

std::string MoveWorld::Text(const Bounds& bounds, const State& state) {
  std::string text = "changes:";
  for (int at = 0; at < state.written; ++at) {
    const Change change = state.changes[at];
    text += " p" + std::to_string(change >> 4 & 1) + " n" + std::to_string(change >> 2 & 3) + ">n" +
            std::to_string(change & 3) + " by " + std::to_string(change >> 5 & 3) +
            (Has(state.told, at) ? " counts" : " does not");
  }
  text += "\n";
  for (int node = 0; node < bounds.nodes; ++node) {
    text += "  n" + std::to_string(node) + (Has(state.up, node) ? " up" : " down") +
            (Has(state.opening, node) ? " opening" : "") + ", X.meta to " +
            std::to_string(state.read[node]) + ", replica " + std::to_string(state.replica[node]) +
            " of " + std::to_string(state.origin[node]) + ", since " +
            std::to_string(state.since[node]) + "\n";
  }
  return text;
}

}  // namespace seendb::cluster_model
