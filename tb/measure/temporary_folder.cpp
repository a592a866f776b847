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
  const auto refuse = [](const std::string& name, const std::string& why) {
    throw InputError({}, fmt::format("cannot make a temporary folder{}: {}", name, why),
                     "set TMPDIR to a folder that can be written to");
  };
  std::error_code error;
  const fs::path below = fs::temp_directory_path(error);
  if (error) {
    refuse("", error.message());
  }
  std::string pattern = (below / "heddle-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    refuse(" '" + pattern + "'", std::strerror(errno));
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TemporaryFolder::write(const fs::path& name, std::string_view text) const {
  fs::path path = path_ / name;
  std::error_code ignored;  // then the file cannot be written either
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw InputError({path.string()}, "cannot write a temporary file", "is the disk full?");
  }
  return path;
}

}  // namespace heddle::tb
