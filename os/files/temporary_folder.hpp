// A folder below the system's temporary one that disappears with the object. Its process holds a lock on it (flock);
// what a killed process leaves is cleared by the next one that makes such a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace heddle::os {

class TemporaryFolder {
 public:
  // Throws InputError.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes a file of it, making the folders that lead there. Returns its whole path; throws InputError.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const;

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace heddle::os
