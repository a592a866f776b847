#include "file_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <regex>

namespace heddle::test {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 600;
constexpr std::size_t kMostWithoutReason = 500;
constexpr std::size_t kReasonWithin = 12;  // first lines of a file

// Whether a file without an extension is a script or a header of the C++ library for device code.
bool begins_as_source(const fs::path& path) {
  std::string line;
  std::ifstream in(path);
  std::getline(in, line);
  return line.starts_with("#!") || line.starts_with("//") || line.starts_with("#pragma once");
}

bool is_source(const fs::path& path) {
  static constexpr std::array kExtensions{".hpp", ".cpp",   ".h",  ".c",  ".cu", ".cuh",
                                          ".inc", ".cmake", ".sh", ".py", ".js"};
  const std::string extension = path.extension().string();
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end() ||
         path.filename() == "CMakeLists.txt" || (extension.empty() && begins_as_source(path));
}

// Nothing where git is not there, or does not trust the folder.
std::optional<std::vector<std::string>> files_of_git(const fs::path& root) {
  std::string quoted;
  for (const char c : root.string()) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  std::FILE* const pipe = ::popen(("git -C '" + quoted + "' ls-files -z 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> names(1);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c == 0) {
      names.emplace_back();
    } else {
      names.back() += static_cast<char>(c);
    }
  }
  names.pop_back();
  if (::pclose(pipe) != 0) {
    return std::nullopt;
  }
  return names;
}

std::vector<std::string> files_of_folder(const fs::path& root) {
  std::vector<std::string> names;
  for (auto at = fs::recursive_directory_iterator(root); at != fs::recursive_directory_iterator(); ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && ((name.starts_with(".") && name != ".ci") || (at.depth() == 0 && name == "build"))) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file()) {
      names.push_back(at->path().lexically_relative(root).string());
    }
  }
  return names;
}

struct Length {
  std::size_t lines = 0;
  std::size_t reason = 0;  // line of the reason; 0: there is none
};

Length length_of(const fs::path& path) {
  static const std::regex reason(R"(^\s*(//|#|/?\*) Long: \w)");
  Length length;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    ++length.lines;
    if (length.lines <= kReasonWithin && length.reason == 0 && std::regex_search(line, reason)) {
      length.reason = length.lines;
    }
  }
  return length;
}

}  // namespace

std::vector<std::string> length_faults(const fs::path& root) {
  std::vector<std::string> faults;
  const auto known = fs::exists(root / ".git") ? files_of_git(root) : std::nullopt;
  std::vector<std::string> names = known ? *known : files_of_folder(root);
  std::sort(names.begin(), names.end());
  std::size_t sources = 0;
  for (const std::string& name : names) {
    const fs::path path = root / name;
    if (!fs::is_regular_file(path) || fs::is_symlink(path) || !is_source(path)) {
      continue;
    }
    ++sources;
    const Length length = length_of(path);
    if (length.lines > kMostLines) {
      faults.push_back(fmt::format("{}: {} lines, and {} is the most: split it", name, length.lines, kMostLines));
    } else if (length.lines > kMostWithoutReason && length.reason == 0) {
      faults.push_back(
          fmt::format("{}: {} lines: split it, or say in a comment within the first {} why it stays whole, as \"Long: "
                      "REASON\"",
                      name, length.lines, kReasonWithin));
    } else if (length.lines <= kMostWithoutReason && length.reason != 0) {
      faults.push_back(fmt::format("{}:{}: says why it is long, but has {} lines: up to {} need no reason", name,
                                   length.reason, length.lines, kMostWithoutReason));
    }
  }
  if (sources == 0) {
    faults.push_back("no source files");
  }
  return faults;
}

}  // namespace heddle::test
