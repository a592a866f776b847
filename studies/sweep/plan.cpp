#include "studies/sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/random.hpp"
#include "hw/check/machine.hpp"
#include "studies/reproduce/plan.hpp"
#include "tb/config/config.hpp"
#include "tb/config/search.hpp"
#include "tb/launch/description.hpp"
#include "tb/launch/launch_file.hpp"
#include "tb/measure/energy/energy.hpp"

namespace heddle::studies::sweep {
namespace {

constexpr std::size_t kLargestInput = std::size_t{4} << 30U;

const ParameterReference* find(const std::vector<ParameterReference>& parameters, std::string_view path) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ParameterReference& parameter) { return parameter.path() == path; });
  return found == parameters.end() ? nullptr : &*found;
}

std::string contradictions_text(const hw::Machine& machine) {
  std::string out;
  for (const hw::Contradiction& contradiction : hw::check(machine)) {
    out += (out.empty() ? "" : "; ") + contradiction.message;
  }
  return out;
}

}  // namespace

Plan::Plan(const Exploration& exploration, std::string build)
    : exploration_(exploration), build_(std::move(build)), grid_(1) {
  for (const Axis& axis : exploration_.axes) {
    if (grid_ > std::numeric_limits<std::uint64_t>::max() / 4 / axis.values.size() / exploration_.list.size()) {
      throw InputError(axis.where, "the axes have more combinations than can be counted", "shorten them");
    }
    grid_ *= axis.values.size();
  }
  std::map<std::string, std::uint32_t> known;
  const std::vector<std::uint64_t> numbers = chosen();
  if (numbers.empty()) {
    throw InputError({exploration_.path}, "no point satisfies the constraints");
  }
  if (numbers.size() > kMostRuns / exploration_.repetitions) {
    throw InputError({exploration_.path},
                     fmt::format("{} points with {} repetitions are more than {} runs", numbers.size(),
                                 exploration_.repetitions, kMostRuns),
                     "take a [sample]");
  }
  entries_.reserve(numbers.size() * exploration_.repetitions);
  for (const std::uint64_t number : numbers) {
    for (std::uint64_t repetition = 1; repetition <= exploration_.repetitions; ++repetition) {
      Point point = make(number, repetition);
      const auto [workload, added] = known.emplace(point.order.workload, static_cast<std::uint32_t>(workloads_.size()));
      if (added) {
        workloads_.push_back(point.order.workload);
      }
      entries_.push_back({number, repetition, std::move(point.key), workload->second, !point.refusal.empty()});
    }
  }
}

Plan::Assigned Plan::assigned(std::uint64_t number) const {
  Assigned values;
  const auto put = [&](const Setting& setting) { values[setting.name] = &setting.value; };
  std::for_each(exploration_.base.begin(), exploration_.base.end(), put);
  std::uint64_t rest = number - 1;
  const std::vector<Setting>& listed = exploration_.list[rest / grid_];
  std::for_each(listed.begin(), listed.end(), put);
  rest %= grid_;
  for (auto axis = exploration_.axes.rbegin(); axis != exploration_.axes.rend();
       ++axis) {  // the last one varies fastest
    values[axis->name] = &axis->values[rest % axis->values.size()];
    rest /= axis->values.size();
  }
  return values;
}

const hw::Machine& Plan::base(const std::string& config) const {
  auto known = machines_.find(config);
  if (known == machines_.end()) {
    known = machines_.emplace(config, tb::read_machine(tb::find_config_from(config, exploration_.folder(), {}))).first;
  }
  return known->second;
}

const LaunchFacts& Plan::launch_facts(const std::string& path) const {
  auto known = launches_.find(path);
  if (known == launches_.end()) {
    known = launches_.emplace(path, read_launch_facts(path)).first;
  }
  return known->second;
}

const std::string& Plan::energy_text(const std::string& path) const {
  auto known = energies_.find(path);
  if (known == energies_.end()) {
    known = energies_.emplace(path, tb::read_energy_text(path)).first;
  }
  return known->second;
}

bool Plan::allowed(std::uint64_t number) const {
  if (exploration_.constraints.empty()) {
    return true;
  }
  const Assigned values = assigned(number);
  const Expression::Lookup lookup = [&](const std::string& name) -> Scalar {
    if (const auto found = values.find(name); found != values.end()) {
      return scalar_of(*found->second);
    }
    if (const RunSetting* setting = find_run_setting(name)) {
      return scalar_of(setting->otherwise);
    }
    hw::Machine machine = base(std::get<std::string>(*values.at("config")));
    return scalar_of(*find(parameters_of(machine), name));
  };
  return std::all_of(exploration_.constraints.begin(), exploration_.constraints.end(),
                     [&](const Expression& constraint) { return constraint.holds(lookup); });
}

std::vector<std::uint64_t> Plan::chosen() const {
  const std::uint64_t all = grid_ * exploration_.list.size();
  std::vector<std::uint64_t> numbers;
  if (all <= kMostRuns) {
    for (std::uint64_t number = 1; number <= all; ++number) {
      if (allowed(number)) {
        numbers.push_back(number);
      }
    }
    if (exploration_.sample && exploration_.sample->points < numbers.size()) {
      Random random(exploration_.sample->seed);
      const auto wanted = static_cast<std::size_t>(exploration_.sample->points);
      for (std::size_t i = 0; i < wanted; ++i) {  // Fisher and Yates, as far as needed
        std::swap(numbers[i], numbers[i + random.below(static_cast<std::uint32_t>(numbers.size() - i))]);
      }
      numbers.resize(wanted);
      std::sort(numbers.begin(), numbers.end());
    }
    return numbers;
  }
  if (!exploration_.sample) {
    throw InputError({exploration_.path}, fmt::format("{} points are more than {} runs", all, kMostRuns),
                     "take a [sample]");
  }
  // Too many to look at each: draw until there are enough. What the constraints leave may be thin.
  Random random(exploration_.sample->seed);
  std::set<std::uint64_t> drawn;
  const std::uint64_t tries = 200 * exploration_.sample->points + 10000;
  for (std::uint64_t i = 0; i < tries && drawn.size() < exploration_.sample->points; ++i) {
    const std::uint64_t number = 1 + random.next() % all;
    if (drawn.count(number) == 0 && allowed(number)) {
      drawn.insert(number);
    }
  }
  if (drawn.size() < exploration_.sample->points) {
    throw InputError({exploration_.path},
                     fmt::format("of {} points drawn only {} satisfy the constraints", tries, drawn.size()),
                     "ask for fewer, or narrow the axes");
  }
  numbers.assign(drawn.begin(), drawn.end());
  return numbers;
}

Point Plan::make(std::uint64_t number, std::uint64_t repetition) const {
  const Assigned values = assigned(number);
  const auto setting = [&](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? find_run_setting(name)->otherwise : *found->second;
  };
  const auto whole = [&](const char* name) {
    return static_cast<std::uint64_t>(std::get<std::int64_t>(setting(name)));
  };
  Point point;
  point.number = number;
  point.repetition = repetition;
  point.config = std::get<std::string>(*values.at("config"));
  RunOrder& order = point.order;
  order.workload = workload_of(exploration_, std::get<std::string>(*values.at("workload")));
  order.scale = std::get<double>(setting("scale"));
  order.seed = whole("seed") + (repetition - 1);
  order.address_bits = static_cast<unsigned>(whole("address_bits"));
  order.max_cycles = whole("max_cycles");
  point.energy = std::get<std::string>(setting("energy"));
  if (!point.energy.empty()) {
    order.energy = tb::find_energy_table(point.energy, exploration_.folder());
    order.energy_text = energy_text(order.energy);
    order.power_interval = whole("power_interval");
    if (const auto celsius = values.find(std::string(kTemperature)); celsius != values.end()) {
      order.celsius = std::get<double>(*celsius->second);
    }
  }
  std::string contents;
  if (is_launch_file(order.workload)) {
    const LaunchFacts& facts = launch_facts(order.workload);
    order.address_bits = facts.address_bits;
    order.ptx = facts.ptx;
    contents = " " + facts.digest;
  }
  order.machine = base(point.config);
  const std::vector<ParameterReference> parameters = parameters_of(order.machine);
  for (const auto& [name, value] : values) {
    if (const ParameterReference* parameter = find(parameters, name)) {
      assign(*parameter, *value, {exploration_.path});
    }
  }
  point.refusal = contradictions_text(order.machine);
  point.key = studies::digest(
      run_key(order.machine, order.workload + contents, order.scale, build_, order.seed, order.address_bits) +
      fmt::format("max_cycles {}\n", order.max_cycles) +
      (order.energy.empty()
           ? ""
           : fmt::format("energy {}\npower_interval {}\n", studies::digest(order.energy_text), order.power_interval)) +
      (order.celsius ? fmt::format("temperature {}\n", *order.celsius) : ""));
  return point;
}

Point Plan::point(std::size_t entry) const {
  return make(entries_[entry].number, entries_[entry].repetition);
}

std::string Plan::digest() const {
  std::string all;
  for (const Entry& entry : entries_) {
    all += fmt::format("{} {} {}\n", entry.number, entry.repetition, entry.key);
  }
  return studies::digest(all);
}

LaunchFacts read_launch_facts(const std::string& path) {
  const std::string text = read_input_file(path, kLargestInput, "launch file");
  const tb::launch::Description description = tb::launch::parse(text, path);
  LaunchFacts facts;
  facts.address_bits = description.address_bits;
  std::string all = studies::digest(text);
  const auto add = [&](const std::string& file) { all += studies::digest(read_input_file(file, kLargestInput)); };
  // What comes out of the compiler: it depends on headers, on the compiler, and on the environment.
  const tb::LaunchFile launch = tb::LaunchFile::read(path);
  facts.ptx = std::make_shared<const std::string>(launch.ptx());
  launch.check(*facts.ptx);
  all += studies::digest(*facts.ptx);
  for (const tb::launch::FillFile& file : tb::launch::fill_files(description)) {
    add(file.path);
  }
  for (const tb::launch::Output& output : description.outputs) {
    if (output.expect) {
      add(*output.expect);
    }
  }
  facts.digest = studies::digest(all);
  return facts;
}

}  // namespace heddle::studies::sweep
