// Users and operators take something back.

#include "model/run/perform.h"

namespace seendb::model {
namespace {

Performed ClearOf(World& world, const Action& action, bool filter) {
  const std::string name = world.Collection(action.collection);
  const std::string_view of[] = {name};
  return AnswerOf(world, world.engine().ClearHistory(IdRef(world.User(action.user)),
                                                     {.collections = of, .filter = filter}));
}

}  // namespace

Performed PerformDelete(World& world, const Action& action) {
  const std::string item = world.Item(action.item);
  const IdRef items[] = {IdRef(item)};
  return AnswerOf(world, world.engine().DeleteHistory(IdRef(world.User(action.user)),
                                                      world.Collection(action.collection), items));
}

Performed PerformClear(World& world, const Action& action) { return ClearOf(world, action, false); }
Performed PerformClearWithFilter(World& world, const Action& action) {
  return ClearOf(world, action, true);
}

Performed PerformPause(World& world, const Action& action) {
  return AnswerOf(world, world.engine().SetRecording(IdRef(world.User(action.user)), true));
}
Performed PerformResume(World& world, const Action& action) {
  return AnswerOf(world, world.engine().SetRecording(IdRef(world.User(action.user)), false));
}

Performed PerformErase(World& world, const Action& action) {
  Erasure erasure;
  Performed done =
      AnswerOf(world, world.engine().EraseUser(IdRef(world.User(action.user)), {}, &erasure));
  if (done.answer != Answer::kOk) return done;
  done.nothing_is_told = true;
  if (!erasure.written) done.answer = Answer::kNothing;
  return done;
}

Performed PerformNewcomer(World& world, const Action& action) {
  world.Rename(action.user);
  return {};
}

Performed PerformMake(World& world, const Action& action) {
  return AnswerOf(world, world.engine().PutCollection(world.Collection(action.collection),
                                                      world.PolicyOf(action.collection), {}));
}

Performed PerformRemove(World& world, const Action& action) {
  return AnswerOf(world, world.engine().DeleteCollection(world.Collection(action.collection)));
}

}  // namespace seendb::model
