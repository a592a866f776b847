#include <algorithm>
#include <tlm>

#include "hw/core/block_protocol.hpp"
#include "hw/core/front/former_module.hpp"
#include "hw/core/share/bulk_copy_protocol.hpp"
#include "hw/core/warps/home_protocol.hpp"
#include "hw/private_memory/private_memory.hpp"
#include "hw/registers/register_file.hpp"
#include "hw/scratchpad/scratchpad.hpp"
#include "studies/pages/diagram/diagram.hpp"
#include "tlm/invalidation_protocol.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::pages {

namespace {

// A socket with the interfaces at its forward and its backward path: two that are bound have both in common.
struct Ends {
  const sc_core::sc_interface* forward = nullptr;
  const sc_core::sc_interface* backward = nullptr;
  bool initiator = false;
  const char* protocol = nullptr;
};

template <class Protocol>
bool probe(sc_core::sc_object& object, const char* name, Ends& ends) {
  using Forward = ::tlm::tlm_fw_transport_if<Protocol>;
  using Backward = ::tlm::tlm_bw_transport_if<Protocol>;
  if (auto* const socket = dynamic_cast<::tlm::tlm_base_initiator_socket_b<32, Forward, Backward>*>(&object)) {
    sc_core::sc_port_base& port = socket->get_base_port();
    sc_core::sc_export_base& back = socket->get_base_export();
    ends = {port.get_interface(), back.get_interface(), true, name};
    return true;
  }
  if (auto* const socket = dynamic_cast<::tlm::tlm_base_target_socket_b<32, Forward, Backward>*>(&object)) {
    sc_core::sc_port_base& back = socket->get_base_port();
    sc_core::sc_export_base& forward = socket->get_base_export();
    ends = {forward.get_interface(), back.get_interface(), false, name};
    return true;
  }
  return false;
}

bool is_socket(sc_core::sc_object& object, Ends& ends) {
  return probe<::tlm::tlm_base_protocol_types>(object, "TLM-2.0 base protocol", ends) ||
         probe<link::WarpProtocol>(object, "sub-warps", ends) || probe<link::LineProtocol>(object, "lines", ends) ||
         probe<hw::RegisterProtocol>(object, "registers", ends) ||
         probe<hw::BankProtocol>(object, "register banks", ends) || probe<hw::FormerProtocol>(object, "masks", ends) ||
         probe<hw::ScratchpadProtocol>(object, "scratchpad", ends) ||
         probe<hw::PrivateProtocol>(object, "private memory", ends) ||
         probe<hw::BulkCopyProtocol>(object, "copies in bulk", ends) ||
         probe<hw::BlockProtocol>(object, "thread blocks", ends) || probe<hw::HomeProtocol>(object, "threads", ends) ||
         probe<link::InvalidationProtocol>(object, "invalidations", ends);
}

unsigned depth_of(const std::string& path) {
  return static_cast<unsigned>(std::count(path.begin(), path.end(), '.'));
}

class Walk {
 public:
  void go(sc_core::sc_object& object, const std::string& parent) {
    std::string inner = parent;
    Ends ends;
    if (dynamic_cast<sc_core::sc_module*>(&object) != nullptr) {
      diagram.modules.push_back({object.name(), parent});
      inner = object.name();
    } else if (is_socket(object, ends)) {
      diagram.sockets.push_back({object.name(), parent, ends.protocol, ends.initiator});
      ends_.push_back(ends);
      return;
    }
    for (sc_core::sc_object* const child : object.get_child_objects()) {
      go(*child, inner);
    }
  }

  // Sockets of one binding: initiators from the innermost outwards, then the target.
  void bind() {
    for (std::size_t target = 0; target < ends_.size(); ++target) {
      if (ends_[target].initiator || ends_[target].forward == nullptr) {
        continue;
      }
      std::vector<std::size_t> chain;
      for (std::size_t other = 0; other < ends_.size(); ++other) {
        if (ends_[other].initiator && ends_[other].protocol == ends_[target].protocol &&
            ends_[other].forward == ends_[target].forward && ends_[other].backward == ends_[target].backward) {
          chain.push_back(other);
        }
      }
      std::stable_sort(chain.begin(), chain.end(), [&](std::size_t a, std::size_t b) {
        return depth_of(diagram.sockets[a].path) > depth_of(diagram.sockets[b].path);
      });
      for (std::size_t i = 0; i < chain.size(); ++i) {
        diagram.bindings.push_back({chain[i], i + 1 < chain.size() ? chain[i + 1] : target});
      }
    }
    outwards();
  }

  Diagram diagram;

 private:
  // What leaves the top: its own sockets have no target below it.
  void outwards() {
    for (std::size_t outer = 0; outer < ends_.size(); ++outer) {
      const std::string& top = diagram.modules.front().path;
      if (!ends_[outer].initiator || diagram.sockets[outer].module != top || ends_[outer].forward == nullptr) {
        continue;
      }
      for (std::size_t inner = 0; inner < ends_.size(); ++inner) {
        if (inner != outer && ends_[inner].initiator && ends_[inner].forward == ends_[outer].forward &&
            ends_[inner].backward == ends_[outer].backward) {
          diagram.bindings.push_back({inner, outer});
        }
      }
    }
  }

  std::vector<Ends> ends_;
};

}  // namespace

Diagram read_diagram(const sc_core::sc_object& top) {
  Walk walk;
  // Walking needs the sockets' interfaces, which only objects that are not constant give.
  walk.go(const_cast<sc_core::sc_object&>(top), "");
  walk.bind();
  return std::move(walk.diagram);
}

}  // namespace heddle::pages
