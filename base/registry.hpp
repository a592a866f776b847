// A registry of named implementations of one interface. A policy is one file that ends with
//
//   namespace { const heddle::Register<WarpScheduler, RoundRobin> round_robin_entry{"round-robin", "each ready warp in
//   turn"}; }
//
// and a configuration names it. Two entries of one name are an error at start-up, never a silent choice.
// The libraries that hold registered policies are linked whole (see CMakeLists.txt), so that a linker does not drop
// a file which nobody calls by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace heddle {

// Interface names its constructor arguments:   using Factory = std::unique_ptr<I>(const I::Setup&);
template <class Interface>
class Registry {
 public:
  using Setup = typename Interface::Setup;
  using Factory = std::function<std::unique_ptr<Interface>(const Setup&)>;
  struct Entry {
    std::string description;
    Factory make;
  };

  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  void add(std::string name, std::string description, Factory make) {
    if (!entries_.emplace(name, Entry{std::move(description), std::move(make)}).second) {
      throw InternalError("policy '" + name + "' is registered twice");
    }
  }

  [[nodiscard]] bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

  [[nodiscard]] std::unique_ptr<Interface> make(std::string_view name, const Setup& setup) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      throw InternalError("no policy is registered as '" + std::string(name) + "'");
    }
    return found->second.make(setup);
  }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

template <class Interface, class Implementation>
struct Register {
  Register(std::string name, std::string description) {
    Registry<Interface>::instance().add(std::move(name), std::move(description),
                                        [](const typename Interface::Setup& setup) -> std::unique_ptr<Interface> {
                                          return std::make_unique<Implementation>(setup);
                                        });
  }
};

}  // namespace heddle
