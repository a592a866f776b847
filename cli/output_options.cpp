#include "cli/output_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "os/files/output_file.hpp"
#include "tb/config/toml_text.hpp"

namespace heddle::cli {

void add_outputs(os::CommandFiles& files, const Arguments& arguments, std::initializer_list<const char*> options) {
  for (const char* const option : options) {
    if (arguments.has(option)) {
      files.writes(std::string("--") + option, arguments.text(option));
    }
  }
}

void check_ending(const Arguments& arguments, const std::string& option, std::initializer_list<const char*> endings,
                  const char* what) {
  if (!arguments.has(option)) {
    return;
  }
  const std::string path = arguments.text(option);
  const bool fits = std::any_of(endings.begin(), endings.end(), [&](const char* end) { return path.ends_with(end); });
  if (!path.empty() && !fits && !os::OutputTarget(path).straight()) {
    throw InputError(
        {"--" + option},
        fmt::format("writes {}, and '{}' does not end in {}", what, tb::excerpt(path), fmt::join(endings, " or ")),
        "name the file so");
  }
}

}  // namespace heddle::cli
