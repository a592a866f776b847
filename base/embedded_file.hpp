// Files that the build puts into a library, so that an installed program needs no folder of its own beside it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace heddle {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

// A static object of this type offers a library's files to whoever shows source text; so a layer shows the sources of
// layers above it (the workloads' kernels, on the page of a profile).
class OfferedFiles {
 public:
  using Files = std::span<const EmbeddedFile> (*)();
  explicit OfferedFiles(Files files);

  // The text of a file that any library offers.
  [[nodiscard]] static std::optional<std::string_view> text(std::string_view name);
};

}  // namespace heddle
