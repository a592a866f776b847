#include "hw/gpu/tap.hpp"

namespace heddle::hw {

std::string TapPlace::text() const {
  const char* name = "";
  switch (link) {
    case Link::control:
      name = "control";
      break;
    case Link::data:
      name = "data";
      break;
    case Link::instruction:
      name = "instruction";
      break;
    case Link::texture:
      name = "texture";
      break;
    case Link::constants:
      name = "constants";
      break;
    case Link::l2:
      name = "l2_";
      break;
    case Link::channel:
      name = "channel";
      break;
    case Link::home:
      name = "home";
      break;
    case Link::probes:
      name = "probes";
      break;
    case Link::memory:
      name = "memory";
      break;
  }
  return name + std::to_string(index);
}

}  // namespace heddle::hw
