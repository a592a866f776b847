// A registry of named implementations of one interface. A policy is one file that ends with
//
//   namespace {
//   const heddle::Register<WarpScheduler, RoundRobin> round_robin_entry{"round-robin", "each ready warp in turn"};
//   }
//
// and a configuration names it. Two entries of one name are an error at start-up, never a silent choice.
// The libraries that hold registered policies are linked whole (see CMakeLists.txt), so that a linker does not drop
// a file that no code calls by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace heddle {

// What an interface wants to know of its implementations beside their names: Interface::About, made of the class by
// About::of<Implementation>(). An interface that declares none keeps nothing.
struct NothingAbout {
  std::string section;  // of the machine file with the implementation's own parameters; empty: it has none
  template <class Implementation>
  static NothingAbout of() {
    return {};
  }
};
template <class Interface>
struct AboutOf {
  using Type = NothingAbout;
};
template <class Interface>
requires requires {
  typename Interface::About;
}
struct AboutOf<Interface> {
  using Type = typename Interface::About;
};

// Interface names its constructor arguments in a struct Setup:   std::unique_ptr<I> make(const I::Setup&)
template <class Interface>
class Registry {
 public:
  using Setup = typename Interface::Setup;
  using Factory = std::function<std::unique_ptr<Interface>(const Setup&)>;
  using About = typename AboutOf<Interface>::Type;
  struct Entry {
    std::string description;
    Factory make;
    About about{};
  };

  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  void add(std::string name, std::string description, Factory make, About about = {}) {
    if (!entries_.emplace(name, Entry{std::move(description), std::move(make), std::move(about)}).second) {
      throw InternalError("policy '" + name + "' is registered twice");
    }
  }

  [[nodiscard]] bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

  // Both throw InternalError when nothing is registered by that name.
  [[nodiscard]] const Entry& entry(std::string_view name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      throw InternalError("no policy is registered as '" + std::string(name) + "'");
    }
    return found->second;
  }
  [[nodiscard]] std::unique_ptr<Interface> make(std::string_view name, const Setup& setup) const {
    return entry(name).make(setup);
  }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

template <class Interface, class Implementation>
struct Register {
  Register(std::string name, std::string description) {
    Registry<Interface>::instance().add(
        std::move(name), std::move(description),
        [](const typename Interface::Setup& setup) -> std::unique_ptr<Interface> {
          return std::make_unique<Implementation>(setup);
        },
        Registry<Interface>::About::template of<Implementation>());
  }
};

}  // namespace heddle
