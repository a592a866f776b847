#include "tb/device/workload.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace heddle::tb {

std::unique_ptr<Workload> make_workload(const std::string& text, WorkloadOptions options) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  const auto& entries = Registry<Workload>::instance().entries();
  if (entries.find(name) == entries.end()) {
    std::vector<std::string> names;
    names.reserve(entries.size());
    for (const auto& [known, entry] : entries) {
      names.push_back(known);
    }
    const std::string listing = "known: " + join(names) + "; or a path ending in .toml";
    const std::string near = suggest(name, names);
    throw InputError({}, "there is no workload '" + name + "'", near.empty() ? listing : near + " (" + listing + ")");
  }
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = std::min(item.find('='), item.size());
    if (equals == 0) {
      throw InputError({}, fmt::format("workload '{}' has an empty variant", text),
                       "write NAME:variant,variant=number");
    }
    options.variants.push_back(
        {item.substr(0, equals), equals == item.size() ? "" : item.substr(equals + 1), equals != item.size()});
    begin = end + 1;
  }
  return entries.find(name)->second.make(options);
}

Variants::Variants(std::string workload, const WorkloadOptions& options, std::vector<Known> known)
    : workload_(std::move(workload)), given_(options.variants), known_(std::move(known)) {
  std::vector<std::string> names;
  for (const Known& one : known_) {
    names.push_back(one.name);
  }
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const WorkloadOptions::Variant& variant = given_[i];
    const Known* found = nullptr;
    for (const Known& one : known_) {
      found = one.name == variant.name ? &one : found;
    }
    if (found == nullptr) {
      throw InputError({}, fmt::format("workload '{}' has no variant '{}'", workload_, variant.name),
                       names.empty() ? "it has none" : suggest(variant.name, names, "known: " + join(names)));
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (given_[k].name == variant.name) {
        throw InputError({}, fmt::format("variant '{}' of workload '{}' is named twice", variant.name, workload_));
      }
    }
    if (found->most == 0 && variant.has_value) {
      throw InputError({}, fmt::format("variant '{}' of workload '{}' has no value", variant.name, workload_),
                       fmt::format("write {}:{}", workload_, variant.name));
    }
    if (found->most != 0) {
      static_cast<void>(number(variant.name));
    }
  }
}

bool Variants::flag(std::string_view name) const {
  for (const WorkloadOptions::Variant& variant : given_) {
    if (variant.name == name) {
      return true;
    }
  }
  return false;
}

std::uint32_t Variants::number(std::string_view name) const {
  for (const Known& one : known_) {
    if (one.name != name) {
      continue;
    }
    for (const WorkloadOptions::Variant& variant : given_) {
      if (variant.name != name) {
        continue;
      }
      std::uint32_t value = 0;
      const char* const last = variant.value.data() + variant.value.size();
      const auto [end, error] = std::from_chars(variant.value.data(), last, value);
      if (error != std::errc{} || end != last || value < one.least || value > one.most) {
        throw InputError({},
                         fmt::format("variant '{}' of workload '{}' cannot be '{}'", name, workload_, variant.value),
                         fmt::format("give a number from {} to {}", one.least, one.most));
      }
      return value;
    }
    return one.usual;
  }
  throw InternalError(fmt::format("workload '{}' asks for its variant '{}', which it does not know", workload_, name));
}

}  // namespace heddle::tb
