#include "tb/program/output_options.hpp"

#include <string>

namespace heddle::program {

void add_outputs(tb::CommandFiles& files, const Arguments& arguments, std::initializer_list<const char*> options) {
  for (const char* const option : options) {
    if (arguments.has(option)) {
      files.writes(std::string("--") + option, arguments.text(option));
    }
  }
}

}  // namespace heddle::program
