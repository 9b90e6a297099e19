#include "seendb/double.h"

#include "memory.h"
#include "transport.h"

namespace seendb::client {

Double::Double(Options options)
    : Double(std::make_shared<internal::Memory>(), std::move(options)) {}

Double::Double(std::shared_ptr<internal::Memory> memory, Options options)
    : Client(std::make_unique<internal::Transport>(
          std::vector<std::string>{"http://double"}, std::move(options),
          [memory](const internal::Request& request) { return memory->Answer(request); })),
      memory_(std::move(memory)) {}

Double::~Double() = default;

void Double::Fail(const std::vector<std::string>& codes) { memory_->Fail(codes); }
void Double::Degrade(bool degraded) { memory_->Degrade(degraded); }
std::vector<std::string> Double::Calls() const { return memory_->Calls(); }

}  // namespace seendb::client
