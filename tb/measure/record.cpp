#include "tb/measure/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/json.hpp>
#include <ctime>
#include <filesystem>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/parameter.hpp"
#include "os/files/atomic_file.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/measure/energy/power_file.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/recorded_value.hpp"
#include "tb/measure/version.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

json::value to_json(std::uint64_t value) {
  return value;
}
json::value to_json(double value) {
  return value;
}
json::value to_json(const std::string& value) {
  return json::string(value);
}
json::value to_json(const std::vector<std::uint64_t>& values) {
  return json::array(values.begin(), values.end());
}
json::value to_json(const IdleByCause& idle) {
  json::object causes;
  for (std::size_t i = 0; i < hw::kIdleCauseCount; ++i) {
    causes[hw::kIdleCauses[i].name] = idle.cycles[i];
  }
  return causes;
}

json::value to_json(const WarpSizes& sizes) {
  json::object kernels;
  for (const auto& [kernel, threads] : sizes) {
    kernels[kernel] = threads;
  }
  return kernels;
}

void read_field(const RecordedValue& value, std::uint64_t& field) {
  field = value.count();
}
void read_field(const RecordedValue& value, double& field) {
  field = value.number();
}
void read_field(const RecordedValue& value, std::string& field) {
  field = value.text();
}
void read_field(const RecordedValue& value, std::vector<std::uint64_t>& field) {
  field.clear();
  for (const RecordedValue& entry : value.entries()) {
    field.push_back(entry.count());
  }
}
void read_field(const RecordedValue& value, IdleByCause& field) {
  for (std::size_t i = 0; i < hw::kIdleCauseCount; ++i) {
    field.cycles[i] = value.at(hw::kIdleCauses[i].name).count();
  }
}

json::object machine_json(const hw::Machine& machine) {
  hw::Machine copy = machine;  // describe() takes a mutable machine
  json::object sections;
  for (const ParameterReference& parameter : parameters_of(copy)) {
    json::value& section = sections[parameter.section];
    if (section.is_null()) {
      section = json::object();
    }
    section.get_object()[parameter.key] =
        std::visit([](const auto* field) { return json::value(*field); }, parameter.field);
  }
  return {{"name", machine.name}, {"description", machine.description}, {"parameters", std::move(sections)}};
}

json::object verdict_json(const std::optional<Verdict>& verdict) {
  if (!verdict) {
    return {{"result", "not checked"}, {"detail", ""}};
  }
  return {{"result", verdict->correct ? "correct" : "wrong"}, {"detail", verdict->detail}};
}

json::array to_json(const isa::Dim3& index) {
  return {index.x, index.y, index.z};
}

json::array to_json(const std::vector<isa::StrayLoads>& strays) {
  json::array out;
  for (const isa::StrayLoads& loads : strays) {
    const isa::Fault& first = loads.first;
    out.push_back(json::object{{"kernel", first.kernel},
                               {"pc", first.pc},
                               {"source", loads.source},
                               {"count", loads.count},
                               {"block", to_json(first.block)},
                               {"thread", to_json(first.thread)},
                               {"address", fmt::format("{:#x}", first.address)},
                               {"bytes", first.size},
                               {"detail", first.detail}});
  }
  return out;
}

json::array to_json(const std::vector<session::LaunchSummary>& launches) {
  json::array out;
  for (const session::LaunchSummary& launch : launches) {
    out.push_back(json::object{{"kernel", launch.kernel},
                               {"grid", to_json(launch.grid)},
                               {"block", to_json(launch.block)},
                               {"dynamic_shared", launch.dynamic_shared},
                               {"stream", launch.stream},
                               {"begin", launch.begin},
                               {"end", launch.end},
                               {"cycles", launch.cycles},
                               {"warp_instructions", launch.warp_instructions},
                               {"thread_instructions", launch.thread_instructions},
                               {"complete", launch.complete}});
  }
  return out;
}

template <class Value>
json::value or_null(const std::optional<Value>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object to_json(const LaunchSelection& selection) {
  const bool blocks = selection.what().blocks > 1;
  json::object kernels;
  for (const auto& [kernel, launches] : selection.kernels()) {
    json::object object{
        {"simulated", launches.simulated},
        {"interpreted", launches.interpreted},
        {"cycles", launches.cycles},
        {"thread_instructions", launches.thread_instructions},
        {"thread_instructions_interpreted", launches.instructions_interpreted + launches.instructions_left_out},
        {"estimated_cycles", or_null(launches.estimated_cycles())}};
    if (blocks) {
      object["simulated_in_part"] = launches.in_part;
      object["blocks"] = launches.blocks;
      object["blocks_simulated"] = launches.blocks_simulated;
      object["blocks_differing"] = launches.blocks_differing;
      object["whole_because"] = launches.whole_because;
    }
    kernels[kernel] = std::move(object);
  }
  json::object out{{"from_launch", selection.what().from_launch},
                   {"skip", json::array(selection.what().kernels.begin(), selection.what().kernels.end())},
                   {"sample", selection.what().every},
                   {"estimated_cycles", or_null(selection.estimated_cycles())},
                   {"kernels", std::move(kernels)}};
  if (blocks) {
    out["sample_blocks"] = selection.what().blocks;
  }
  return out;
}

json::object energy_json(const Energy& energy) {
  json::object kinds;
  for (const Energy::Kind& kind : energy.kinds) {
    json::object activities;
    for (const Energy::Activity& activity : kind.activities) {
      activities[activity.name] =
          json::object{{"count", activity.count}, {"pj_per_count", activity.pj_per_count}, {"pj", activity.pj}};
    }
    kinds[kind.name] = json::object{{"source", kind.source},
                                    {"pj", kind.pj},
                                    {"activities", std::move(activities)},
                                    {"units", kind.units},
                                    {"leakage_mw", kind.leakage_mw},
                                    {"leakage_pj", kind.leakage_pj}};
  }
  json::object modules;
  for (const Energy::Module& module : energy.modules) {
    modules[module.name] = json::object{{"kind", module.kind}, {"pj", module.pj}, {"leakage_pj", module.leakage_pj}};
  }
  json::object out{{"table", energy.table},
                   {"description", energy.description},
                   {"pj", energy.pj},
                   {"nanoseconds", energy.nanoseconds},
                   {"average_mw", energy.average_mw},
                   {"delay_product", energy.delay_product},
                   {"kinds", std::move(kinds)},
                   {"modules", std::move(modules)}};
  if (energy.leakage) {
    out["celsius"] = energy.leakage->celsius;
  }
  return out;
}

// What power over time comes to; the intervals themselves are in a file of their own.
json::object power_summary(const Power& power) {
  return {{"interval_cycles", power.interval}, {"peak_mw", power.peak_mw()}, {"kernels", kernels_json(power)}};
}

json::object modules_json(const StatisticsRegistry& modules) {
  json::object out;
  const auto slot = [&](const StatisticDeclaration& declaration) -> json::value& {
    json::value& module = out[declaration.module];
    if (module.is_null()) {
      module = json::object();
    }
    return module.get_object()[declaration.name];
  };
  for (const StatisticsRegistry::Scalar& scalar : modules.scalars()) {
    slot(scalar.declaration) = *scalar.value;
  }
  for (const StatisticsRegistry::Histogram& histogram : modules.histograms()) {
    slot(histogram.declaration) = to_json(*histogram.values);
  }
  return out;
}

double rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
}

constexpr std::size_t kLargestRecord = std::size_t{1} << 30U;

json::value read_record(const std::string& path) {
  json::error_code error;
  json::value value = json::parse(read_input_file(path, kLargestRecord), error);
  if (error || !value.is_object()) {
    throw InputError({path}, error ? fmt::format("is no JSON: {}", error.message()) : "is no JSON object");
  }
  const json::value* const schema = value.get_object().if_contains("schema");
  const std::string reads = fmt::format("this program reads schema {}", kStatisticsSchema);
  if (schema == nullptr) {
    throw InputError({path}, "holds no run: it names no schema", reads);
  }
  if (*schema != json::value(kStatisticsSchema)) {
    throw InputError({path}, fmt::format("is of another schema: {}", excerpt(json::serialize(*schema))), reads);
  }
  return value;
}

}  // namespace

std::string stats_json(const RunRecord& record, const StatisticsRegistry& modules) {
  json::object summary;
  record.summary.describe([&](std::string_view name, const auto& field, std::string_view, std::string_view) {
    summary[name] = to_json(field);
  });
  json::object stats{{"schema", kStatisticsSchema},
                     {"heddle", json::string(version())},
                     {"machine", machine_json(record.machine)},
                     {"workload", record.workload},
                     {"threads", record.threads},
                     {"scale", or_null(record.scale)},
                     {"seed", or_null(record.seed)},
                     {"address_bits", record.address_bits},
                     {"warp_sizes", to_json(record.warp_sizes)},
                     {"complete", record.complete},
                     {"stop_reason", record.stop_reason},
                     {"out_of_bounds_loads", to_json(record.stray_loads)},
                     {"verdict", verdict_json(record.verdict)},
                     {"summary", std::move(summary)},
                     {"modules", modules_json(modules)}};
  if (!record.device_used) {
    stats["device_used"] = false;
  }
  if (!record.launches.empty()) {
    stats["launches"] = to_json(record.launches);
  }
  if (record.selection) {
    stats["fast_forward"] = to_json(*record.selection);
  }
  if (record.energy) {
    stats["energy"] = energy_json(*record.energy);
    if (record.power && record.power_in_statistics) {
      stats["energy"].get_object()["power"] = power_summary(*record.power);
    }
  }
  return json_text(stats);
}

void put_cost(json::object& object, const HostCost& cost) {
  HostCost::describe(cost, [&](const char* name, auto value, const char*, const char*) { object[name] = value; });
}

HostCost cost_of(const RecordedValue& object) {
  HostCost cost;
  HostCost::describe(
      cost, [&](const char* name, auto& field, const char*, const char*) { read_field(object.at(name), field); });
  return cost;
}

std::string host_json(const HostCost& cost, const Summary& summary) {
  json::object host{{"schema", kStatisticsSchema},
                    {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  put_cost(host, cost);
  const double seconds = cost.simulation_cpu_seconds;
  host["cycles_per_second"] = rate(summary.cycles, seconds);
  host["warp_instructions_per_second"] = rate(summary.warp_instructions, seconds);
  host["thread_instructions_per_second"] = rate(summary.thread_instructions, seconds);
  return json_text(host);
}

void write_run(const std::string& directory, const RunRecord& record, const StatisticsRegistry& modules,
               const HostCost& cost) {
  os::make_folder(directory);
  os::write_file(directory + "/stats.json", stats_json(record, modules));
  os::write_file(directory + "/host.json", host_json(cost, record.summary));
}

RunFiles read_run(const std::string& directory) {
  const std::string path = directory + "/stats.json";
  const json::value whole = read_record(path);
  const RecordedValue stats(whole, path);
  RunFiles files;
  files.workload = stats.at("workload").text();
  files.threads = stats.at("threads").count();
  files.complete = stats.at("complete").flag();
  files.stop_reason = stats.at("stop_reason").text();
  const RecordedValue verdict = stats.at("verdict");
  if (const std::string result = verdict.at("result").text(); result != "not checked") {
    files.verdict = Verdict{result == "correct", verdict.at("detail").text()};
  }
  files.summary = summary_of(stats);
  if (stats.has("energy")) {
    files.energy = RecordedEnergy{stats.at("energy").at("pj").number(), stats.at("energy").at("nanoseconds").number()};
  }
  const std::string host = directory + "/host.json";
  files.cost = cost_of(RecordedValue(read_record(host), host));
  return files;
}

std::string stats_path(const std::string& file_or_folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(file_or_folder, ignored) ? file_or_folder + "/stats.json" : file_or_folder;
}

json::value read_stats(const std::string& path) {
  json::value stats = read_record(path);
  for (const char* const key : {"machine", "workload", "threads", "complete", "stop_reason", "summary", "modules"}) {
    static_cast<void>(RecordedValue(stats, path).at(key));
  }
  return stats;
}

Summary summary_of(const RecordedValue& stats) {
  Summary summary;
  const RecordedValue figures = stats.at("summary");
  summary.describe([&](std::string_view name, auto& field, std::string_view, std::string_view) {
    read_field(figures.at(name), field);
  });
  return summary;
}

hw::Machine machine_of(const RecordedValue& stats) {
  hw::Machine machine;
  const RecordedValue recorded = stats.at("machine");
  machine.name = recorded.at("name").text();
  const RecordedValue sections = recorded.at("parameters");
  for (const ParameterReference& parameter : parameters_of(machine)) {
    assign(parameter, sections.at(parameter.section).at(parameter.key).scalar(), stats.where());
  }
  return machine;
}

}  // namespace heddle::tb
