// heddle list: what there is to name on the command line, and what every parameter and statistic means.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <iostream>
#include <iterator>
#include <map>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/parameter.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "hw/map/address_map.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "studies/pages/report/protocols.hpp"
#include "studies/pages/report/reference.hpp"
#include "studies/pages/report/schema.hpp"
#include "studies/sweep/schema.hpp"
#include "tb/config/config.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::cli {
namespace {

namespace json = boost::json;

// A title with its key in JSON.
struct Title {
  std::string text;
  std::string key;
};

void print(const std::vector<Title>& columns, const std::vector<std::vector<std::string>>& rows,
           const Arguments& arguments) {
  std::vector<std::string> titles;
  titles.reserve(columns.size());
  for (const Title& column : columns) {
    titles.push_back(column.text);
  }
  if (arguments.has("json")) {
    json::array out;
    for (const auto& row : rows) {
      json::object& object = out.emplace_back(json::object()).get_object();
      for (std::size_t i = 0; i != row.size(); ++i) {
        object[columns[i].key] = row[i];
      }
    }
    std::cout << tb::json_text(out);
  } else if (arguments.has("names")) {
    for (const auto& row : rows) {
      std::cout << row.front() << "\n";
    }
  } else if (arguments.has("markdown")) {
    std::cout << markdown_table(titles, rows);
  } else {
    std::vector<TextTable::Column> shown;
    shown.reserve(titles.size());
    for (const std::string& title : titles) {
      shown.push_back({title});
    }
    TextTable table(std::move(shown));
    for (const auto& row : rows) {
      table.add(row);
    }
    std::cout << table.text();
  }
}

void list_workloads(const Arguments& arguments) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, entry] : Registry<tb::Workload>::instance().entries()) {
    rows.push_back({name, entry.description});
  }
  print({{"workload", "name"}, {"what it does", "meaning"}}, rows, arguments);
}

void list_configs(const Arguments& arguments) {
  std::vector<std::vector<std::string>> rows;
  for (const tb::ConfigEntry& entry : tb::list_configs()) {
    rows.push_back({entry.name, entry.group, entry.description, entry.path});
  }
  print({{"machine", "name"}, {"group", "group"}, {"what it is", "meaning"}, {"file", "file"}}, rows, arguments);
}

// The parameters that name a policy, with what the registered policies do, or else what the parameter decides.
void list_policies(const Arguments& arguments) {
  hw::Machine machine;
  std::vector<std::vector<std::string>> rows;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    if (std::holds_alternative<std::string*>(parameter.field) && parameter.limits.choices && !parameter.limits.list) {
      for (const std::string& choice : parameter.limits.choices()) {
        const bool said = static_cast<bool>(parameter.limits.about);
        rows.push_back({parameter.path(), choice, said ? parameter.limits.about(choice) : parameter.meaning});
      }
    }
  }
  print({{"parameter", "parameter"}, {"policy", "name"}, {"what it does", "meaning"}}, rows, arguments);
}

void list_parameters(const Arguments& arguments) {
  if (arguments.has("json")) {
    std::cout << tb::json_text(pages::parameters_json({}));
  } else if (arguments.has("names")) {
    hw::Machine machine;
    for (const ParameterReference& parameter : parameters_of(machine)) {
      std::cout << parameter.path() << "\n";
    }
  } else {
    std::cout << (arguments.has("markdown") ? pages::parameters_markdown({}) : pages::parameters_text({}));
  }
}

// Elaborated, it has registered the counters of every kind of module.
hw::Machine with_every_module() {
  hw::Machine machine;
  machine.l2.enabled = machine.l2.inclusive = true;
  machine.gpu.coherence = "mesi";
  machine.l0i.enabled = true;
  machine.constant_cache.bytes = 8192;
  machine.constant_cache.l0_bytes = 512;
  machine.core.divergence = "odgs";
  return machine;
}

// The counters of every kind of module, which the machine above need not have all.
class EveryModule {
 public:
  EveryModule() : device_(with_every_module()), modules_(device_.statistics()) {
    // Lines that have sectors have no homes, and the other way round, and homes do not go with partitions of the L2; a
    // machine has one divergence mechanism; private memory and units for copies in bulk do not go with threads that
    // change cores.
    modules_.add("gpu.core0.convergence", convergence_);
    modules_.add("gpu.core0.private_memory", private_memory_);
    modules_.add("gpu.core0.bulk_copies", bulk_copies_);
    modules_.add("gpu.core0.l1d.sectors", sectors_);
    modules_.add("gpu.l2_0.store.sectors", sectors_);
    modules_.add("gpu.noc.partitions", partitions_);
  }
  [[nodiscard]] const StatisticsRegistry& modules() const { return modules_; }

 private:
  const tb::Device device_;
  hw::SectorStatistics sectors_;
  hw::PartitionStatistics partitions_;
  hw::ConvergenceStatistics convergence_;
  hw::PrivateMemoryStatistics private_memory_;
  hw::BulkCopyStatistics bulk_copies_;
  StatisticsRegistry modules_;
};

void list_statistics(const Arguments& arguments) {
  if (arguments.has("names")) {
    for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
      std::cout << declaration.name << "\n";
    }
    return;
  }
  const EveryModule every;
  if (arguments.has("json")) {
    std::cout << tb::json_text(pages::statistics_json(every.modules()));
  } else {
    std::cout << (arguments.has("markdown") ? pages::statistics_markdown(every.modules())
                                            : pages::statistics_text(every.modules()));
  }
}

// What files hold, as JSON Schema.
void list_schema(const Arguments& arguments) {
  const std::vector<std::string> known = {"stats", "host", "exploration", "results"};
  if (arguments.words().size() < 2) {
    throw InputError({"list"}, "schema needs the kind of file: " + join(known),
                     "usage: heddle list schema " + join(known, "|"));
  }
  const std::string& file = arguments.words()[1];
  if (file == "stats") {
    std::cout << tb::json_text(pages::stats_schema(EveryModule().modules()));
  } else if (file == "host") {
    std::cout << tb::json_text(pages::host_schema());
  } else if (file == "exploration") {
    std::cout << tb::json_text(studies::sweep::exploration_schema());
  } else if (file == "results") {
    std::cout << tb::json_text(studies::sweep::results_schema());
  } else {
    throw InputError({"list"}, fmt::format("there is no schema of '{}'", tb::excerpt(file)),
                     suggest(file, known, "known: " + join(known)));
  }
}

// How addresses lie in the memory channels of a machine.
void list_mapping(const Arguments& arguments) {
  if (arguments.words().size() < 2) {
    throw InputError({"list"}, "mapping needs a machine", "usage: heddle list mapping CONFIG");
  }
  const hw::Machine machine = tb::read_machine(arguments.words()[1], arguments.settings());
  std::cout << fmt::format("{}: dram.mapping = \"{}\"\n\n", machine.name, machine.dram.mapping)
            << hw::draw_mapping(machine.dram, hw::memory_line_bytes(machine));
}

// What one machine has, or what there is in all machines.
void list_signals(const Arguments& arguments) {
  const bool one = arguments.words().size() > 1;
  if (arguments.has("markdown")) {
    if (one) {
      throw InputError({"--markdown"}, "describes the signals of all machines together; give no machine");
    }
    std::cout << pages::signals_markdown();
    return;
  }
  const hw::Machine machine =
      tb::read_machine(one ? arguments.words()[1] : std::string("baseline"), arguments.settings());
  if (arguments.has("json")) {
    std::cout << tb::json_text(pages::signals_json(machine));
  } else if (arguments.has("names")) {
    const hw::GpuWaves waves(machine);
    for (const link::Signal& signal : waves.catalogue().signals()) {
      std::cout << signal.path() << "\n";
    }
  } else {
    std::cout << pages::signals_text(machine);
  }
}

void list_protocols(const Arguments& arguments) {
  if (arguments.has("names")) {
    for (const std::string& name : hw::coherence_protocols().choices()) {
      std::cout << name << "\n";
    }
    return;
  }
  std::cout << (arguments.has("markdown") ? pages::protocols_markdown() : pages::protocols_text());
}

void list_groups(const Arguments& arguments) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(std::size(link::kSignalGroups));
  for (const link::SignalGroupInfo& group : link::kSignalGroups) {
    rows.push_back({std::string(group.name), std::string(group.meaning)});
  }
  print({{"signal group", "name"}, {"what it shows", "meaning"}}, rows, arguments);
}

using Lister = void (*)(const Arguments&);
const std::vector<std::pair<std::string, Lister>> kLists = {
    {"workloads", list_workloads},   {"configs", list_configs},       {"policies", list_policies},
    {"statistics", list_statistics}, {"parameters", list_parameters}, {"mapping", list_mapping},
    {"signals", list_signals},       {"groups", list_groups},         {"protocols", list_protocols},
    {"schema", list_schema}};

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  names.reserve(kLists.size());
  for (const auto& [name, lister] : kLists) {
    names.push_back(name);
  }
  return names;
}

int list(const Arguments& arguments) {
  const std::string& wanted = arguments.words().front();
  const bool of_machine = wanted == "mapping" || wanted == "signals";
  if (!of_machine) {
    if (arguments.words().size() > 1 && wanted != "schema") {
      throw InputError({"list"}, fmt::format("'{}' is one word too many", tb::excerpt(arguments.words()[1])),
                       fmt::format("usage: heddle list {}", wanted));
    }
    if (arguments.has("set")) {
      throw InputError({"--set"}, "applies to heddle list mapping CONFIG and list signals CONFIG only");
    }
  }
  if (arguments.has("json") && (wanted == "mapping" || wanted == "protocols")) {
    throw InputError({"--json"}, fmt::format("list {} draws for people, and has no JSON", wanted), "leave it out");
  }
  for (const char* const form : {"names", "markdown"}) {
    if (arguments.has(form) && (arguments.has("json") || wanted == "schema")) {
      throw InputError({std::string("--") + form}, "what is listed is JSON", "leave it out");
    }
  }
  for (const auto& [name, lister] : kLists) {
    if (name == wanted) {
      lister(arguments);
      return 0;
    }
  }
  throw InputError({"list"}, fmt::format("there is no list of '{}'", wanted),
                   suggest(wanted, list_names(), "known: " + join(list_names())));
}

}  // namespace

Command list_command() {
  Command command;
  command.name = "list";
  command.operands =
      "workloads|configs|policies|statistics|parameters|mapping CONFIG|signals [CONFIG]|groups|protocols|"
      "schema stats|host|exploration|results";
  command.fewest = 1;
  command.most = 2;
  command.summary = "what there is to name, and what every parameter and statistic means";
  command.options.add_options()("names", "the names alone, one a line")("markdown", "as a Markdown document or table")(
      "json", "as JSON, with all that is declared: types, units, ranges")(
      "set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
      "mapping, signals: change a parameter of the machine; may be repeated");
  command.completions = {list_names(), {"@list configs", "@files"}};
  command.run = list;
  return command;
}

}  // namespace heddle::cli
