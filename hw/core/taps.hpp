// The taps within a core: asks an extension (hw/core/extension.hpp) what is to stand in front of each target socket,
// binds through it, and keeps it. Plain look-ups while the modules are built.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hw/core/extension.hpp"

namespace heddle::hw {

class CoreTaps {
 public:
  // `core_name`: the whole name of the core's module, below which all sockets are.
  CoreTaps(unsigned core, const std::string& core_name, link::Clock clock)
      : core_(core), prefix_(core_name.size() + 1), clock_(clock) {}

  // What is to stand in front of a target socket of the core; null: nothing.
  template <class Protocol, class To>
  [[nodiscard]] std::unique_ptr<link::TapOf<Protocol>> at(const CoreExtension::MakeTap<Protocol>& make_tap,
                                                          const To& socket) const {
    const CorePlace place{core_, std::string(socket.name()).substr(prefix_)};
    return make_tap ? make_tap(place, clock_) : nullptr;
  }
  // Binds within the core, through a tap where there is to be one.
  template <class Protocol, class From, class To>
  void bind(const CoreExtension::MakeTap<Protocol>& make_tap, From& from, To& to) {
    std::unique_ptr<link::TapOf<Protocol>> tap = at(make_tap, to);
    link::bind_through(tap.get(), from, to);
    taps_.push_back(std::move(tap));
  }

 private:
  unsigned core_;
  std::size_t prefix_;
  link::Clock clock_;
  std::vector<std::unique_ptr<sc_core::sc_module>> taps_;
};

}  // namespace heddle::hw
