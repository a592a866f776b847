// The files that a process has open, and opening them again in another one.
#pragma once

#include <set>
#include <vector>

#include "os/checkpoint/notes.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::checkpoint {

// Numbers of the descriptors that are open now. 0 to 2 always count as open.
[[nodiscard]] std::set<int> open_descriptors();

// The files behind all descriptors but `others`. What has been written to them is brought to the disk. Throws
// InputError for what another process would not have: a pipe, a socket, a terminal, a file that has been removed.
[[nodiscard]] std::vector<OpenFile> open_files(const std::set<int>& others);

// Files of an image, opened for this process. The constructor only looks: throws InputError where a file has gone, has
// other contents than then, or is locked by another process. set_up() then gives them their numbers, lengths and
// positions, whatever this process has open there.
class ReopenedFiles {
 public:
  explicit ReopenedFiles(const std::vector<OpenFile>& files);
  void set_up();

 private:
  struct Reopened {
    OpenFile file;
    os::Descriptor descriptor;
  };
  std::vector<Reopened> files_;
};

}  // namespace heddle::checkpoint
