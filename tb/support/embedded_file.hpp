// A file that the build puts into a library, so that an installed program needs no folder of its own beside it.
#pragma once

#include <string_view>

namespace heddle::tb {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

}  // namespace heddle::tb
