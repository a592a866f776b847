// Reads an EXPLORATION.toml into an Exploration.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/input_file.hpp"
#include "base/nearest.hpp"
#include "hw/parameters/machine.hpp"
#include "studies/sweep/exploration.hpp"
#include "studies/sweep/range.hpp"
#include "tb/config/config.hpp"
#include "tb/config/search.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/device/workload.hpp"
#include "tb/launch/launch_file.hpp"
#include "tb/launch/section.hpp"
#include "tb/measure/energy/energy.hpp"

namespace heddle::studies::sweep {
namespace {

using tb::launch::kind_of;
using tb::launch::Section;

constexpr std::size_t kLargestExploration = std::size_t{16} << 20U;
constexpr std::uint64_t kMostRepetitions = 100000;

class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : parameters_(parameters_of(scratch_)) {
    out_.path = path;
    out_.text = text;
    out_.name = std::filesystem::path(path).stem().string();
    for (const RunSetting& setting : run_settings()) {
      names_.emplace_back(setting.name);
    }
    for (const ParameterReference& parameter : parameters_) {
      names_.push_back(parameter.path());
      if (sections_.empty() || sections_.back() != parameter.section) {
        sections_.push_back(parameter.section);
      }
    }
  }

  Exploration run() {
    const toml::table table = tb::parse_toml(out_.text, out_.path, "docs/explorations.md shows the format");
    const Section top(table, out_.path, "the exploration", exploration_keys());
    if (top.has("description")) {
      out_.description = top.string("description");
    }
    for (const RunSetting& setting : run_settings()) {
      if (const toml::node* node = table.get(setting.name)) {
        out_.base.push_back(single(std::string(setting.name), *node));
      }
    }
    if (top.has("set")) {
      each_setting(top.table("set"), "", [&](const std::string& name, const toml::node& node) {
        if (std::find(sections_.begin(), sections_.end(), name.substr(0, name.find('.'))) == sections_.end()) {
          throw ParameterError(name, place(node), fmt::format("'{}' is no parameter of a machine", name),
                               "write it at the top of the file, outside [set]");
        }
        out_.base.push_back(single(name, node));
      });
    }
    read_points(top);
    if (top.has("axes")) {
      each_setting(top.table("axes"), "",
                   [&](const std::string& name, const toml::node& node) { out_.axes.push_back(axis(name, node)); });
    }
    refuse_twice();
    read_constraints(top);
    read_rest(top);
    require("config", top);
    require("workload", top);
    refuse_temperature_of_nothing();
    refuse_what_launch_files_say(top);
    return std::move(out_);
  }

 private:
  [[nodiscard]] SourceLocation place(const toml::node& node) const {
    const toml::source_position at = node.source().begin;
    return {out_.path, at.line, at.column};
  }
  [[nodiscard]] SourceLocation place(const toml::key& key) const {
    const toml::source_position at = key.source().begin;
    return {out_.path, at.line, at.column};
  }

  // Calls `use` with every setting of a table, in the order of the file: `core.warp_size = ...` may stand as a dotted
  // key, as a quoted one, or below a section's name.
  template <class Use>
  void each_setting(const toml::table& table, const std::string& section, const Use& use) const {
    for (const auto& [key, node] : tb::in_file_order(table)) {
      const std::string word(key->str());
      if (section.empty() && std::find(sections_.begin(), sections_.end(), word) != sections_.end()) {
        const auto* inner = node->as_table();
        if (inner == nullptr) {
          throw InputError(place(*key), fmt::format("'{}' is a section of the machine", word),
                           fmt::format("name one of its parameters: {}.KEY = ...", word));
        }
        each_setting(*inner, word, use);
        continue;
      }
      const std::string name = section.empty() ? word : fmt::format("{}.{}", section, word);
      check_name(name, place(*key));
      use(name, *node);
    }
  }

  void check_name(const std::string& name, const SourceLocation& where) const {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
      return;
    }
    const std::string bare = name.substr(name.rfind('.') + 1);
    for (const ParameterReference& parameter : parameters_) {  // right name, wrong or no section
      if (parameter.key == bare) {
        throw ParameterError(name, where, fmt::format("there is no parameter '{}'", tb::excerpt(name)),
                             fmt::format("did you mean '{}'?", parameter.path()));
      }
    }
    throw ParameterError(name, where, fmt::format("there is no parameter '{}'", tb::excerpt(name)),
                         suggest(name, names_, "try heddle list parameters"));
  }

  static ParameterValue scalar(const std::string& name, const toml::node& node, const SourceLocation& where) {
    if (std::optional<ParameterValue> value = tb::scalar_value(node)) {
      return *std::move(value);
    }
    throw ParameterError(name, where, fmt::format("{} cannot be {}", name, tb::launch::kind_of(node)));
  }

  Setting single(const std::string& name, const toml::node& node) {
    const SourceLocation where = place(node);
    if (node.is_array() || node.is_table()) {
      throw ParameterError(name, where,
                           fmt::format("{} must be one value here, not {}", name, tb::launch::kind_of(node)),
                           "several values make an axis: write them in [axes]");
    }
    return {name, checked(name, scalar(name, node, where), where), where};
  }

  // The value as the parameter's type holds it (a whole number for a parameter with a fraction becomes one).
  ParameterValue checked(const std::string& name, ParameterValue value, const SourceLocation& where) {
    for (const ParameterReference& parameter : parameters_) {
      if (parameter.path() == name) {
        assign(parameter, value, where);
        if (const auto* whole = std::get_if<std::int64_t>(&value);
            whole != nullptr && parameter.type_name() == "number") {
          return static_cast<double>(*whole);
        }
        return value;
      }
    }
    const RunSetting& setting = *find_run_setting(name);
    if (setting.type == "number") {
      if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        value = static_cast<double>(*whole);
      }
    }
    if (type_name(value) != setting.type) {
      throw ParameterError(name, where,
                           fmt::format("{} must be {} {}, not {} {}", name, setting.type == "integer" ? "an" : "a",
                                       setting.type, type_name(value) == "integer" ? "an" : "a", type_name(value)));
    }
    check_setting(setting, value, where);
    return value;
  }

  void check_setting(const RunSetting& setting, const ParameterValue& value, const SourceLocation& where) {
    if (setting.type != "string") {
      const double number = std::get<double>(scalar_of(value));
      const bool bits = setting.name == "address_bits";
      if (!(number >= setting.low && number <= setting.high) || (bits && number != 32 && number != 64)) {
        throw ParameterError(
            std::string(setting.name), where,
            fmt::format("{} must be {}, not {}", setting.name,
                        bits ? "32 or 64" : fmt::format("between {} and {}", setting.low, setting.high),
                        value_text(value)));
      }
      return;
    }
    const std::string& text = std::get<std::string>(value);
    if (setting.name == "energy") {
      const std::string path = tb::find_energy_table(text, out_.folder(), where);
      static_cast<void>(tb::parse_energy_table(tb::read_energy_text(path), path));
      return;
    }
    if (setting.name == "config") {
      static_cast<void>(tb::read_machine(tb::find_config_from(text, out_.folder(), where)));
      return;
    }
    try {
      if (is_launch_file(text)) {
        static_cast<void>(tb::LaunchFile::read(workload_of(out_, text)));
      } else {
        static_cast<void>(tb::make_workload(text, {}));
      }
    } catch (const InputError& error) {
      if (error.where().file.empty()) {
        throw ParameterError(std::string(setting.name), where, error.message(), error.hint());
      }
      throw InputError(error.where(), fmt::format("{} (the workload of {})", error.message(), where.text()),
                       error.hint());
    }
  }

  Axis axis(const std::string& name, const toml::node& node) {
    Axis out{name, place(node), {}, {}};
    if (const auto* array = node.as_array()) {
      for (const toml::node& entry : *array) {
        const SourceLocation where = place(entry);
        out.values.push_back(checked(name, scalar(name, entry, where), where));
        out.places.push_back(where);
      }
    } else if (const auto* table = node.as_table()) {
      for (const ParameterValue& value : range_values(name, *table, out_.path)) {
        out.values.push_back(checked(name, value, out.where));
        out.places.push_back(out.where);
      }
    } else {
      throw ParameterError(
          name, out.where,
          fmt::format("the axis {} must be an array of values or a range, not {}", name, tb::launch::kind_of(node)),
          fmt::format("write {} = [A, B] or {} = {{ from = A, to = B, step = C }}", name, name));
    }
    if (out.values.empty()) {
      throw ParameterError(name, out.where, fmt::format("the axis {} has no values", name));
    }
    std::set<ParameterValue> seen;
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      if (!seen.insert(out.values[i]).second) {
        throw ParameterError(name, out.places[i],
                             fmt::format("the axis {} has {} twice", name, value_text(out.values[i])));
      }
    }
    return out;
  }

  void read_points(const Section& top) {
    for (const toml::table* table : top.tables("points")) {
      std::vector<Setting> settings;
      each_setting(*table, "",
                   [&](const std::string& name, const toml::node& node) { settings.push_back(single(name, node)); });
      out_.list.push_back(std::move(settings));
    }
    if (out_.list.empty()) {
      out_.list.emplace_back();
    }
  }

  // A name has one source: what an axis sets, a listed point cannot, as one would silently win.
  void refuse_twice() const {
    std::set<std::string> axes;
    for (const Axis& axis : out_.axes) {
      if (!axes.insert(axis.name).second) {
        throw ParameterError(axis.name, axis.where, fmt::format("there are two axes {}", axis.name));
      }
    }
    for (const std::vector<Setting>& settings : out_.list) {
      std::set<std::string> seen;
      for (const Setting& setting : settings) {
        if (axes.count(setting.name) != 0) {
          throw ParameterError(setting.name, setting.where, fmt::format("{} is an axis too", setting.name),
                               "take it out of one of them");
        }
        if (!seen.insert(setting.name).second) {
          throw ParameterError(setting.name, setting.where,
                               fmt::format("{} is set twice in one of the [[points]]", setting.name));
        }
      }
    }
    std::set<std::string> seen;
    for (const Setting& setting : out_.base) {
      if (axes.count(setting.name) != 0) {
        throw ParameterError(setting.name, setting.where, fmt::format("{} is an axis too", setting.name),
                             "take it out of one of them");
      }
      if (!seen.insert(setting.name).second) {
        throw ParameterError(setting.name, setting.where, fmt::format("{} is set twice", setting.name));
      }
    }
  }

  void read_constraints(const Section& top) {
    if (!top.has("constraints")) {
      return;
    }
    const Expression::Names names = [&](const std::string& name, const SourceLocation& where) -> Scalar {
      check_name(name, where);
      if (name == kTemperature) {
        temperature_asked_ = where;
      }
      for (const ParameterReference& parameter : parameters_) {
        if (parameter.path() == name) {
          return scalar_of(parameter);
        }
      }
      return find_run_setting(name)->type == "string" ? Scalar(std::string()) : Scalar(0.0);
    };
    for (const toml::node& entry : top.array("constraints")) {
      const auto* text = entry.as_string();
      SourceLocation where = place(entry);
      if (text == nullptr) {
        throw InputError(where, fmt::format("a constraint must be a string, not {}", tb::launch::kind_of(entry)));
      }
      ++where.column;  // behind the quote
      out_.constraints.push_back(Expression::parse(text->get(), where, names));
    }
  }

  void read_rest(const Section& top) {
    out_.repetitions = top.integer("repetitions", 1, kMostRepetitions, 1);
    if (top.has("sample")) {
      const Section sample(top.table("sample"), out_.path, "[sample]", {"points", "seed"});
      out_.sample = Sample{sample.integer("points", 1, 1000000), sample.integer("seed", 0, INT64_MAX, 1)};
    }
    if (top.has("limits")) {
      const Section limits(top.table("limits"), out_.path, "[limits]", {"wall_seconds", "cpu_seconds", "memory_mib"});
      const auto seconds = [&](std::string_view key, double otherwise) {
        if (!limits.has(key)) {
          return otherwise;
        }
        const double value = limits.number(key).real;
        if (!(value >= 0 && value <= 1e8)) {
          throw InputError(limits.where(key), limits.name(key) + " must be between 0 (no limit) and 1e8 seconds");
        }
        return value;
      };
      out_.limits.wall_seconds = seconds("wall_seconds", out_.limits.wall_seconds);
      out_.limits.cpu_seconds = seconds("cpu_seconds", out_.limits.cpu_seconds);
      out_.limits.memory_mib = limits.integer("memory_mib", 0, std::uint64_t{1} << 30U, 0);
    }
    if (top.has("slurm")) {
      const Section slurm(top.table("slurm"), out_.path, "[slurm]", {"options", "runs_per_task", "at_a_time"});
      out_.slurm.runs_per_task = slurm.integer("runs_per_task", 1, 1000000, 0);
      out_.slurm.at_a_time = slurm.integer("at_a_time", 1, 1000000, 0);
      if (slurm.has("options")) {
        for (const toml::node& entry : slurm.array("options")) {
          const auto* text = entry.as_string();
          if (text == nullptr || !text->get().starts_with("-")) {
            throw InputError(place(entry), "an option of sbatch must be a string that begins with '-'",
                             "as in \"--partition=long\"");
          }
          out_.slurm.options.push_back(text->get());
        }
      }
    }
  }

  // Every point needs it: from the top, an axis, or each of the listed points.
  void require(const std::string& name, const Section& top) const {
    const auto has = [&](const std::vector<Setting>& settings) {
      return std::any_of(settings.begin(), settings.end(), [&](const Setting& one) { return one.name == name; });
    };
    if (has(out_.base) || std::all_of(out_.list.begin(), out_.list.end(), has) ||
        std::any_of(out_.axes.begin(), out_.axes.end(), [&](const Axis& axis) { return axis.name == name; })) {
      return;
    }
    throw InputError({out_.path}, fmt::format("{} has no {}", top.title(), name),
                     fmt::format("add {} = \"...\" at the top, or an axis of several", name));
  }

  // Where a point of the list gets a setting from; null: nowhere.
  [[nodiscard]] const SourceLocation* source_of(std::string_view name, const std::vector<Setting>& listed) const {
    for (const std::vector<Setting>* const settings : {&listed, &out_.base}) {
      for (const Setting& setting : *settings) {
        if (setting.name == name) {
          return &setting.where;
        }
      }
    }
    for (const Axis& axis : out_.axes) {
      if (axis.name == name) {
        return &axis.where;
      }
    }
    return nullptr;
  }

  // Every point that has a temperature must have the energy table by which leakage goes with it. A constraint that asks
  // for the temperature needs one: without, it is the table's, which the constraint does not know.
  void refuse_temperature_of_nothing() const {
    for (const std::vector<Setting>& listed : out_.list) {
      const SourceLocation* const where = source_of(kTemperature, listed);
      if (where != nullptr && source_of("energy", listed) == nullptr) {
        throw ParameterError(std::string(kTemperature), *where, "leakage goes by an energy table, and none is given",
                             "name one: energy = \"TABLE\"");
      }
      if (where == nullptr && temperature_asked_) {
        throw ParameterError(std::string(kTemperature), *temperature_asked_,
                             "the constraint asks for a temperature, which not every point has",
                             "give one: temperature = CELSIUS");
      }
    }
  }

  // A LAUNCH.toml says its input and its pointers itself. What an exploration said of them too would change nothing,
  // and yet stand beside the results.
  void refuse_what_launch_files_say(const Section& top) const {
    for (const std::vector<Setting>& listed : out_.list) {
      const std::string* const launch = launch_file_of(out_, listed);
      if (launch == nullptr) {
        continue;
      }
      const auto refuse = [&](const SourceLocation& where, std::string_view what) {
        throw InputError(
            where, fmt::format("{}; the LAUNCH.toml '{}', which points here run, says this itself", what, *launch),
            "leave it out, or make two explorations: one of workloads, one of launch files");
      };
      for (const char* const name : {"scale", "seed", "address_bits"}) {
        if (const SourceLocation* const where = source_of(name, listed)) {
          refuse(*where, fmt::format("{} applies to workloads", name));
        }
      }
      if (out_.repetitions > 1) {
        refuse(top.where("repetitions"), "repetitions differ in the seed of a workload");
      }
    }
  }

  Exploration out_;
  hw::Machine scratch_;  // takes values to have them checked
  std::vector<ParameterReference> parameters_;
  std::vector<std::string> names_;                   // all that a point can set
  std::vector<std::string> sections_;                // of the machine
  std::optional<SourceLocation> temperature_asked_;  // by a constraint
};

}  // namespace

const std::vector<std::string>& exploration_keys() {
  static const std::vector<std::string> keys = {
      "description",  "config",      "workload",    "scale",          "seed",   "max_cycles",
      "address_bits", "energy",      "temperature", "power_interval", "set",    "axes",
      "points",       "constraints", "sample",      "repetitions",    "limits", "slurm"};
  return keys;
}

Exploration parse_exploration(std::string_view text, const std::string& path) {
  return Reader(text, path).run();
}

Exploration read_exploration(const std::string& path) {
  return parse_exploration(read_input_file(path, kLargestExploration, "exploration"), path);
}

}  // namespace heddle::studies::sweep
