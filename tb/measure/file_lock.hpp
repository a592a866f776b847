// One writer at a time.
#pragma once

#include <string>

namespace heddle::tb {

// Holds an advisory lock on a file, which is made when missing, until destroyed or until the process ends, however it
// does. Throws InputError when the file cannot be written, and, with `busy` and `hint` at `what`, when another process
// holds the lock.
class FileLock {
 public:
  FileLock(const std::string& path, const std::string& what, const std::string& busy, const std::string& hint);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace heddle::tb
