// The cost of a coroutine of the server (http::Task): of a handler that is ready at once, beside a
// plain call; of tasks within a task; and of a hop through an executor, beside a callback's.

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "http/task.h"
#include "http/wait.h"
#include "micro/micro.h"

namespace seendb::perf {
namespace {

void AddOne(int* to) { benchmark::DoNotOptimize(++*to); }

http::Task<> AddOneInTask(int* to) {
  AddOne(to);
  co_return;
}

http::Task<> AddInTasks(int count, int* to) {
  for (int i = 0; i < count; ++i) co_await AddOneInTask(to);
}

http::Task<> AddOneElsewhere(int* to) {
  co_await http::OnWorker(http::Executor::kEngine);
  AddOne(to);
}

/// A function that needs no wait returns a task that has ended.
http::Task<> AddOneWithoutTask(int* to) {
  AddOne(to);
  return {};
}

void RunAtOnce(benchmark::State& state, http::Task<> (*handler)(int*)) {
  http::TaskRun run(nullptr);
  int count = 0;
  for (auto _ : state) {
    run.Begin(handler(&count));
    if (run) run.GoOn();
  }
}
BENCHMARK_CAPTURE(RunAtOnce, plain, AddOneWithoutTask);
BENCHMARK_CAPTURE(RunAtOnce, task, AddOneInTask);

/// Items: tasks that a task awaits.
void AwaitReady(benchmark::State& state) {
  constexpr int kTasks = 100;
  http::TaskRun run(nullptr);
  int count = 0;
  for (auto _ : state) {
    run.Begin(AddInTasks(kTasks, &count));
    run.GoOn();
  }
  TimeAnItem(state, kTasks);
}
BENCHMARK(AwaitReady);

/// A connection goes on with a handler elsewhere by a post to an executor.
void HopInTask(benchmark::State& state) {
  boost::asio::io_context io(1);
  http::TaskRun run(nullptr);
  int count = 0;
  for (auto _ : state) {
    run.Begin(AddOneElsewhere(&count));
    run.GoOn();
    boost::asio::post(io, [&run] { run.GoOn(); });
    io.restart();
    io.poll();
  }
}
BENCHMARK(HopInTask);

/// The same by a callback that owns what it needs.
void HopInCallback(benchmark::State& state) {
  boost::asio::io_context io(1);
  int count = 0;
  for (auto _ : state) {
    boost::asio::post(
        io, std::function<void()>([to = std::make_shared<int*>(&count)] { AddOne(*to); }));
    io.restart();
    io.poll();
  }
}
BENCHMARK(HopInCallback);

}  // namespace
}  // namespace seendb::perf
