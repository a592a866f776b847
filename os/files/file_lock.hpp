// One writer at a time.
#pragma once

#include <string>

namespace heddle::os {

// Holds an advisory lock on a file, which is made when missing, until destroyed or until the process ends, however it
// does; destroyed, it removes the file. Throws InputError when the file cannot be written, and, with `busy` and `hint`
// at `what`, when another process holds the lock.
class FileLock {
 public:
  FileLock(const std::string& path, const std::string& what, const std::string& busy, const std::string& hint);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

// The lock of a folder into which one command at a time writes. Throws InputError as FileLock does; `who` is who else
// may be writing: "another run".
class FolderLock : public FileLock {
 public:
  FolderLock(const std::string& folder, const std::string& who);
};

}  // namespace heddle::os
