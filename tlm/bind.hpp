// Binding across bus widths.
#pragma once

#include <type_traits>

namespace heddle::link {

// Binds an initiator socket to a target socket of another BUSWIDTH, which their own bind refuses: width is a matter of
// the sockets' types only. Both have the same interfaces, a payload carries its length, and on a little-endian host the
// bytes of its data array are in order of address whatever the width (IEEE 1666-2011, 14.18). Hierarchical and
// convenience sockets will do; a model that asks get_bus_width() gets the width of its own end.
//
//   link::bind_any_width(gpu.memory[0], wide_memory.socket);   // tlm_target_socket<64> or simple_target_socket<M, 512>
//   link::bind_any_width(wide_host.socket, gpu.control);
template <class Initiator, class Target>
void bind_any_width(Initiator& initiator, Target& target) {
  static_assert(std::is_same_v<typename Initiator::fw_interface_type, typename Target::fw_interface_type> &&
                    std::is_same_v<typename Initiator::bw_interface_type, typename Target::bw_interface_type>,
                "both sockets must be of one protocol");
  initiator.get_base_port()(target.get_base_interface());
  target.get_base_port()(initiator.get_base_interface());
}

}  // namespace heddle::link
