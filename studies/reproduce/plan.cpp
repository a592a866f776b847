#include "studies/reproduce/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/parameter.hpp"
#include "tb/config/config.hpp"
#include "tb/device/workload.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;
constexpr std::string_view kKeyStart = "heddle ";

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string refused_workload(const std::string& text) {
  try {
    static_cast<void>(tb::make_workload(text, {}));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::string digest(std::string_view text) {
  std::uint64_t hash = kFnvOffset;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * kFnvPrime;
  }
  return fmt::format("{:016x}", hash);
}

std::string program_build() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  if (!in) {
    throw InternalError("the program cannot read its own file");
  }
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return fmt::format("{} {}", tb::version(), digest(bytes));
}

std::string run_key(const hw::Machine& machine, const std::string& workload, double scale, const std::string& build,
                    std::uint64_t seed, unsigned address_bits) {
  std::string key = fmt::format("{}{}\nworkload {}\nscale {}\nseed {}\naddress_bits {}\n", kKeyStart, build, workload,
                                scale, seed, address_bits);
  hw::Machine described = machine;  // describe() hands out pointers to change
  for (const ParameterReference& parameter : parameters_of(described)) {
    key += fmt::format("{} = {}\n", parameter.path(), parameter.value_text());
  }
  return key;
}

RunKeyParts parts_of_key(std::string_view key) {
  if (!key.starts_with(kKeyStart)) {
    return {{}, key};
  }
  key.remove_prefix(kKeyStart.size());
  const std::size_t end = std::min(key.find('\n'), key.size());
  return {key.substr(0, end), key.substr(end)};
}

Plan plan_runs(const std::vector<Run>& wanted, const Scaling& scaling, const std::string& build) {
  Plan plan;
  std::map<std::string, std::size_t> by_key;
  std::map<std::string, std::pair<hw::Machine, std::string>> machines;  // by configuration and changes, with refusal
  for (const Run& run : wanted) {
    const std::string text = run.text();
    if (plan.by_text.count(text) != 0) {
      continue;
    }
    PlannedRun planned{run, scaling.of(run), {}, {}, refused_workload(run.workload)};
    std::string name = run.config;
    for (const std::string& setting : run.settings) {
      name += " " + setting;
    }
    auto machine = machines.find(name);
    if (machine == machines.end()) {
      machine = machines.emplace(name, std::pair<hw::Machine, std::string>{}).first;
      try {
        machine->second.first = tb::read_machine(run.config, run.settings);
      } catch (const InputError& error) {
        machine->second.second = error.what();
      }
    }
    if (planned.refusal.empty()) {
      planned.refusal = machine->second.second;
    }
    planned.key = planned.refusal.empty() ? run_key(machine->second.first, run.workload, planned.scale, build)
                                          : "refused " + text;
    if (run.timeline) {
      planned.key += fmt::format("timeline {} {}\n", run.timeline->begin, run.timeline->cycles);
    }
    if (run.series) {
      planned.key += "series\n";
    }
    if (!run.energy.empty()) {
      try {
        planned.key += fmt::format("energy {}\n", digest(text_of(tb::find_energy_table(run.energy))));
      } catch (const InputError& error) {
        planned.refusal = planned.refusal.empty() ? error.what() : planned.refusal;
      }
    }
    const auto [known, added] = by_key.emplace(planned.key, plan.runs.size());
    plan.by_text.emplace(text, known->second);
    if (added) {
      std::string workload = run.workload;  // its variants' separators would need quoting in a shell
      std::replace_if(
          workload.begin(), workload.end(), [](char letter) { return letter == ':' || letter == ','; }, '-');
      planned.folder = fmt::format("{}-{}-{}", workload, run.config, digest(parts_of_key(planned.key).rest));
      plan.runs.push_back(std::move(planned));
    }
  }
  return plan;
}

}  // namespace heddle::studies
