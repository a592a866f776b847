#include "tb/measure/version.hpp"

namespace heddle::tb {

std::string_view version() {
  return HEDDLE_VERSION;
}

}  // namespace heddle::tb
