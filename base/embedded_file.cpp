#include "base/embedded_file.hpp"

#include <vector>

namespace heddle {
namespace {

// Local to a function: libraries add to the list while static objects are made, in any order.
std::vector<OfferedFiles::Files>& offered_files() {
  static std::vector<OfferedFiles::Files> all;
  return all;
}

}  // namespace

OfferedFiles::OfferedFiles(Files files) {
  offered_files().push_back(files);
}

std::optional<std::string_view> OfferedFiles::text(std::string_view name) {
  for (const Files files : offered_files()) {
    for (const EmbeddedFile& file : files()) {
      if (file.name == name) {
        return file.text;
      }
    }
  }
  return std::nullopt;
}

}  // namespace heddle
