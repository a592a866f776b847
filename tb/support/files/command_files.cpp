#include "tb/support/files/command_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "tb/support/files/atomic_file.hpp"
#include "tb/support/files/output_file.hpp"

namespace heddle::tb {

namespace {

constexpr const char* kNameAnother = "name another file";

// Of a regular file its device and number, of one that is not there its whole path.
std::string identity_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    return S_ISREG(found.st_mode) ? fmt::format("{}:{}", found.st_dev, found.st_ino) : std::string();
  }
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(behind_links(path), error);
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(whole, error);
  return (error ? whole.lexically_normal() : canonical).string();
}

}  // namespace

void CommandFiles::reads(const std::string& what, const std::string& path) {
  inputs_.push_back({what, path, identity_of(path)});
}

void CommandFiles::reads_all(const std::string& what, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    reads(what, path);
  }
}

void CommandFiles::writes(const std::string& option, const std::string& path) {
  if (path.empty()) {
    throw InputError({option}, "the file's name is empty", "name a file");
  }
  const File output{option, path, identity_of(path)};
  if (!output.identity.empty()) {
    for (const File& input : inputs_) {
      if (input.identity == output.identity) {
        const std::string which = input.path == path ? "" : fmt::format(" '{}'", input.path);
        throw InputError({option}, fmt::format("'{}' is {}{} that this command reads", path, input.user, which),
                         kNameAnother);
      }
    }
    for (const File& other : outputs_) {
      if (other.identity == output.identity) {
        throw InputError({option}, fmt::format("'{}' is a file that {} writes, too", path, other.user), kNameAnother);
      }
    }
  }
  outputs_.push_back(output);
}

void CommandFiles::writes_in(const std::string& option, const std::string& folder,
                             const std::vector<std::string>& names) {
  if (folder.empty()) {
    throw InputError({option}, "the folder's name is empty", "name a folder");
  }
  for (const std::string& name : names) {
    writes(option, (std::filesystem::path(folder) / name).string());
  }
}

void CommandFiles::check_writable() const {
  for (const File& output : outputs_) {
    tb::check_writable(output.path);
  }
}

}  // namespace heddle::tb
