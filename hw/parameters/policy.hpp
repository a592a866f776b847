// What the model knows of a policy beside what it does, each fact declared in the policy's own class:
//
//   static constexpr Traits traits{...}    what it can do (Interface::Traits). Without it, and for every trait that it
//                                          leaves out, the answer that is safe: a policy is refused where it promises
//                                          nothing, never run with wrong results
//   using Parameters = ...                 its own parameters (hw/parameters/policy_parameters.hpp)
//   using AlsoReads = ...                  another policy's parameters, of which it reads some
//   static void check(const Machine&, std::vector<Contradiction>&)     what contradicts it on a machine that uses it
//   static void in_vain(const Machine&, std::vector<WithoutEffect>&)   its parameters that change nothing there
//   static void cost(const CostShape&, CostLines&)                     its storage (hw/parameters/cost.hpp)
//
// Register<Interface, Implementation> (base/registry.hpp) reads them off the class. So no code needs to know a policy's
// name: the machine's checks, waves and cost ask the registry for what the chosen one has declared.
#pragma once

#include <string>
#include <vector>

#include "base/registry.hpp"
#include "hw/parameters/policy_parameters.hpp"

namespace heddle::hw {

struct Machine;
struct Contradiction;
struct WithoutEffect;
struct CostShape;
class CostLines;

// The families of policies: whose section of the machine holds their parameters.
struct CorePolicies {};
struct DramPolicies {};

// For an interface whose implementations differ in what they do alone.
struct NoTraits {};

template <class TheirTraits, class Family>
struct PolicyAbout {
  TheirTraits traits{};
  std::vector<std::string> sections;  // of the machine file: sections with parameters that it reads
  void (*check)(const Machine& machine, std::vector<Contradiction>& found) = nullptr;
  void (*in_vain)(const Machine& machine, std::vector<WithoutEffect>& found) = nullptr;
  void (*cost)(const CostShape& shape, CostLines& lines) = nullptr;

  template <class Implementation>
  static PolicyAbout of() {
    PolicyAbout about;
    if constexpr (requires { Implementation::traits; }) {
      about.traits = Implementation::traits;
    }
    if constexpr (requires { typename Implementation::Parameters; }) {
      PolicyParameters<Family>::template declare<typename Implementation::Parameters>();
      about.sections.emplace_back(Implementation::Parameters::kSection);
    }
    if constexpr (requires { typename Implementation::AlsoReads; }) {
      about.sections.emplace_back(Implementation::AlsoReads::kSection);
    }
    if constexpr (requires { &Implementation::check; }) {
      about.check = &Implementation::check;
    }
    if constexpr (requires { &Implementation::in_vain; }) {
      about.in_vain = &Implementation::in_vain;
    }
    if constexpr (requires { &Implementation::cost; }) {
      about.cost = &Implementation::cost;
    }
    return about;
  }
};

// What the policy of this name has declared. Throws InternalError when there is none.
template <class Interface>
[[nodiscard]] const typename Interface::About& about(std::string_view name) {
  return Registry<Interface>::instance().entry(name).about;
}

}  // namespace heddle::hw
