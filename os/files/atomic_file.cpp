#include "os/files/atomic_file.hpp"

#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "os/files/output_file.hpp"

namespace heddle::os {

void check_writable(const std::string& path) {
  OutputTarget(path).check();
}

void write_file(const std::string& path, std::string_view contents) {
  OutputFile file(path);
  file.write(contents);
  file.commit();
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    const std::error_code cause = error ? error : std::make_error_code(std::errc::not_a_directory);
    throw InputError({path}, "is no folder and cannot be made into one: " + cause.message());
  }
}

}  // namespace heddle::os
