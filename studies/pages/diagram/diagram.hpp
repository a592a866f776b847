// The GPU as it has been elaborated: its modules and what their sockets are bound to, found by walking SystemC's object
// hierarchy and asking every socket for the interface at its other end.
#pragma once

#include <string>
#include <systemc>
#include <vector>

namespace heddle::pages {

struct DiagramSocket {
  std::string path;      // hierarchical name
  std::string module;    // whose it is
  std::string protocol;  // "TLM-2.0 base protocol", "sub-warps"...
  bool initiator = false;
};

struct DiagramModule {
  std::string path;
  std::string parent;  // empty: the top
};

// From an initiator socket to what it is bound to: the target, or, outwards through the border of a module, another
// initiator.
struct DiagramBinding {
  std::size_t from;  // into Diagram::sockets
  std::size_t to;
};

struct Diagram {
  std::vector<DiagramModule> modules;  // parents before children, in order of elaboration
  std::vector<DiagramSocket> sockets;
  std::vector<DiagramBinding> bindings;
};

// Below a module, which has been elaborated completely (a first sc_start has returned).
[[nodiscard]] Diagram read_diagram(const sc_core::sc_object& top);

// Graphviz' language. `all`: every module; otherwise modules that differ by number only ("core0", "core1", register
// banks) are drawn once, with their number.
[[nodiscard]] std::string diagram_dot(const Diagram& diagram, const std::string& title, bool all);

}  // namespace heddle::pages
