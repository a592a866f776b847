// The parameters that policies declare for themselves. A policy that needs some names a struct with describe(), as
// every section of the machine has one (base/parameter.hpp), and the name and meaning of its section:
//
//   struct DwfParameters {
//     static constexpr const char* kSection = "dwf";
//     static constexpr const char* kMeaning = "dynamic warp formation (core.divergence = \"dwf\")";
//     bool lane_aware = true;
//     template <class Visitor> void describe(Visitor& visit) { visit("lane_aware", lane_aware, ...); }
//   };
//
// Registering the policy (hw/parameters/policy.hpp) makes the section known; several policies may share one. Machine
// files, --set, listings, documents and checks then have it like any other, and only the policy reads it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/parameter.hpp"

namespace heddle::hw {

// The values of one section, whatever its struct.
class PolicySection {
 public:
  virtual ~PolicySection() = default;
  [[nodiscard]] virtual std::unique_ptr<PolicySection> clone() const = 0;
  virtual void describe(ParameterCollector& visit) = 0;
};

template <class Parameters>
class PolicySectionOf final : public PolicySection {
 public:
  [[nodiscard]] std::unique_ptr<PolicySection> clone() const override {
    return std::make_unique<PolicySectionOf<Parameters>>(*this);
  }
  void describe(ParameterCollector& visit) override {
    visit.section(Parameters::kSection, Parameters::kMeaning);
    values.describe(visit);
  }
  Parameters values;
};

// The policies' sections that a part of the machine has: the sections of `Family` (CorePolicies, DramPolicies).
// Sections come in the order of their names.
template <class Family>
class PolicyParameters {
 public:
  PolicyParameters() = default;
  PolicyParameters(const PolicyParameters& other) { *this = other; }
  PolicyParameters& operator=(const PolicyParameters& other) {
    if (this != &other) {
      sections_.clear();
      for (const auto& [name, section] : other.sections_) {
        sections_.emplace(name, section->clone());
      }
    }
    return *this;
  }
  PolicyParameters(PolicyParameters&&) noexcept = default;
  PolicyParameters& operator=(PolicyParameters&&) noexcept = default;
  ~PolicyParameters() = default;

  // Called when a policy registers itself. Throws InternalError when another struct has a section of this name.
  template <class Parameters>
  static void declare() {
    const auto [at, is_new] = kinds().emplace(Parameters::kSection, Kind{&make<Parameters>});
    if (!is_new && at->second.make != &make<Parameters>) {
      throw InternalError(std::string("two policies declare a section '") + Parameters::kSection + "' each");
    }
  }

  // What is set, else the defaults.
  template <class Parameters>
  [[nodiscard]] const Parameters& of() const {
    static const Parameters defaults;
    const auto found = sections_.find(Parameters::kSection);
    return found == sections_.end() ? defaults : static_cast<PolicySectionOf<Parameters>&>(*found->second).values;
  }
  template <class Parameters>
  [[nodiscard]] Parameters& of() {
    return static_cast<PolicySectionOf<Parameters>&>(section(Parameters::kSection, &make<Parameters>)).values;
  }

  void describe(ParameterCollector& visit) {
    for (const auto& [name, kind] : kinds()) {
      section(name, kind.make).describe(visit);
    }
  }

 private:
  using Make = std::unique_ptr<PolicySection> (*)();
  struct Kind {
    Make make;
  };

  template <class Parameters>
  static std::unique_ptr<PolicySection> make() {
    return std::make_unique<PolicySectionOf<Parameters>>();
  }
  static std::map<std::string, Kind, std::less<>>& kinds() {
    static std::map<std::string, Kind, std::less<>> all;
    return all;
  }
  PolicySection& section(std::string_view name, Make make) {
    auto found = sections_.find(name);
    if (found == sections_.end()) {
      found = sections_.emplace(std::string(name), make()).first;
    }
    return *found->second;
  }

  std::map<std::string, std::unique_ptr<PolicySection>, std::less<>> sections_;
};

}  // namespace heddle::hw
