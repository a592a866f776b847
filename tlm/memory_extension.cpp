#include "tlm/memory_extension.hpp"

namespace heddle::link {

::tlm::tlm_extension_base* MemoryExtension::clone() const {
  return new MemoryExtension(*this);
}

void MemoryExtension::copy_from(const ::tlm::tlm_extension_base& other) {
  *this = static_cast<const MemoryExtension&>(other);
}

}  // namespace heddle::link
