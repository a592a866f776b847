// The text of the source files that line tables name, for showing it beside the machine code.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::tb {

// A line table comes with a kernel from wherever that comes from, and may name any file. So the text of a file of the
// host is shown only when it lies beside what the user has named, or when the compiler of this run reads it.
class SourceFiles {
 public:
  // Files of this folder and of folders below it, but no hidden ones (.NAME) and nothing that links lead to elsewhere.
  void allow_below(const std::string& folder);
  void allow(const std::vector<std::string>& files);

  // The file as a line table names it: a source of this program's own workloads and device headers, which it holds, or
  // a file that is allowed. Nothing when it cannot be read, is no text in UTF-8, or is larger than 4 MiB.
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;

 private:
  [[nodiscard]] bool allowed(const std::string& name) const;
  std::vector<std::filesystem::path> folders_;  // without links
  std::set<std::filesystem::path> files_;       // likewise
};

}  // namespace heddle::tb
