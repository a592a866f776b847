#include "hw/gpu/foresight.hpp"

namespace heddle::hw {

template class BasicForesight<CoreModules>;

}  // namespace heddle::hw
