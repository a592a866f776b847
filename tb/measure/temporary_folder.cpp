#include "tb/measure/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/error.hpp"

namespace heddle::tb {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "heddle-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw InputError({}, fmt::format("cannot make a temporary folder '{}': {}", pattern, std::strerror(errno)),
                     "set TMPDIR to a folder that can be written to");
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TemporaryFolder::write(const fs::path& name, std::string_view text) const {
  fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw InputError({path.string()}, "cannot write a temporary file", "is the disk full?");
  }
  return path;
}

}  // namespace heddle::tb
