#include "tb/config/search.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "base/input_file.hpp"
#include "base/nearest.hpp"
#include "tb/config/config.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".toml";
constexpr std::size_t kLargestMachineFile = 1U << 20;  // a machine takes some kilobytes; keeps endless files out

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// share/heddle/configs of an installed program, wherever it was installed to.
std::optional<fs::path> installed_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return std::nullopt;
  }
  return program.parent_path().parent_path() / "share" / "heddle" / "configs";
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kSuffix && is_file(entry.path())) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> config_folders() {
  std::vector<fs::path> candidates;
  if (const char* listed = std::getenv("HEDDLE_CONFIGS")) {
    std::string_view rest(listed);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end != 0) {
        candidates.emplace_back(rest.substr(0, end));
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  candidates.emplace_back(HEDDLE_SOURCE_CONFIGS);
  if (const std::optional<fs::path> installed = installed_folder()) {
    candidates.push_back(*installed);
  }
  std::vector<std::string> folders;
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::is_directory(candidate, error)) {
      folders.push_back(candidate.string());
    }
  }
  return folders;
}

bool is_config_path(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(kSuffix);
}

std::string find_config_from(const std::string& name_or_path, const std::string& from_folder,
                             const SourceLocation& where) {
  if (name_or_path.empty()) {
    throw InputError(where, "the machine's name is empty");
  }
  std::vector<std::string> folders = config_folders();
  std::set<std::string> known;
  for (const std::string& folder : folders) {
    const std::vector<std::string> names = names_in(folder);
    known.insert(names.begin(), names.end());
  }
  const std::vector<std::string> names(known.begin(), known.end());
  if (is_config_path(name_or_path)) {
    const fs::path path = fs::path(from_folder) / name_or_path;  // an absolute path replaces the folder
    std::error_code error;
    if (!fs::exists(path, error)) {
      throw InputError(where, "there is no machine file '" + path.string() + "'",
                       "give a path, or one of the names " + join(names));
    }
    if (const auto reason = unreadable_reason(path.string())) {
      throw InputError(where, "the machine file '" + path.string() + "' cannot be read: " + *reason);
    }
    return path.string();
  }
  if (!from_folder.empty()) {
    folders.insert(folders.begin(), from_folder);
  }
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / (name_or_path + std::string(kSuffix));
    if (is_file(path)) {
      return path.string();
    }
  }
  const std::string listing = names.empty() ? "no machine was found; set HEDDLE_CONFIGS to the folder that holds them"
                                            : "known: " + join(names);
  const std::string near = suggest(name_or_path, names);
  throw InputError(where, "there is no machine called '" + name_or_path + "'",
                   near.empty() ? listing : near + " (" + listing + ")");
}

std::string find_config(const std::string& name_or_path) {
  return find_config_from(name_or_path, {}, {});
}

std::string read_config_text(const std::string& path) {
  return read_input_file(path, kLargestMachineFile, "machine file");
}

}  // namespace heddle::tb
