#include "os/files/command_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/output_file.hpp"
#include "os/process/child_process.hpp"

namespace heddle::os {

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

// Whether a compiler could have read it as a text. An empty file it could.
bool may_be_text(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return false;
  }
  std::string start(8, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return !start.starts_with(
             "\x7f"
             "ELF") &&
         start != "!<arch>\n";
}

}  // namespace

CommandFiles::CommandFiles() {
  reads("the program itself,", own_program());
}

void CommandFiles::reads_texts(const std::string& what, Lister list) {
  unlisted_.push_back({what, std::move(list)});
}

void CommandFiles::list_texts(const File& output) {
  if (unlisted_.empty() || !may_be_text(output.path)) {
    return;
  }
  for (const Texts& texts : std::exchange(unlisted_, {})) {
    reads_all(texts.what, texts.list());
  }
}

void CommandFiles::reads(const std::string& what, const std::string& path) {
  std::string identity = identity_of(path);
  if (!identity.empty()) {
    inputs_.emplace(identity, File{what, path, identity});  // of two names of one file, the first
  }
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
    list_texts(output);
    if (const auto input = inputs_.find(output.identity); input != inputs_.end()) {
      const std::string which = input->second.path == path ? "" : fmt::format(" '{}'", input->second.path);
      throw InputError({option}, fmt::format("'{}' is {}{} that this command reads", path, input->second.user, which),
                       kNameAnother);
    }
    if (const auto [other, fresh] = written_.emplace(output.identity, option); !fresh) {
      throw InputError({option}, fmt::format("'{}' is a file that {} writes, too", path, other->second), kNameAnother);
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
    os::check_writable(output.path);
  }
}

}  // namespace heddle::os
