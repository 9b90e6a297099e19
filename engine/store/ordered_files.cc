#include "store/ordered_files.h"

#include <string>

#include <rocksdb/file_system.h>

#include "store/copy_file.h"

namespace seendb {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class OrderedFiles final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "SeenDBOrderedFiles"; }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    if (to.ends_with("/CURRENT")) {
      std::unique_ptr<rocksdb::FSDirectory> folder;
      IOStatus status = target()->NewDirectory(FolderOf(to), options, &folder, dbg);
      if (status.ok()) status = folder->Fsync(options, dbg);
      if (!status.ok()) return status;
    }
    return target()->RenameFile(from, to, options, dbg);
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewOrderedEnv(rocksdb::Env* base) {
  return rocksdb::NewCompositeEnv(std::make_shared<OrderedFiles>(base->GetFileSystem()));
}

}  // namespace seendb
