#include "studies/sweep/slurm_files.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/parameter.hpp"
#include "os/files/atomic_file.hpp"
#include "studies/reproduce/plan.hpp"
#include "tb/config/config.hpp"

namespace heddle::studies::sweep {
namespace {

namespace json = boost::json;

constexpr std::size_t kLargestTask = std::size_t{1} << 30U;

json::object run_json(const SlurmTask::Entry& run) {
  const RunOrder& order = run.order;
  return {{"key", run.key},
          {"workload", order.workload},
          {"scale", order.scale},
          {"seed", order.seed},
          {"address_bits", order.address_bits},
          {"max_cycles", order.max_cycles},
          {"energy", order.energy},
          {"energy_text", order.energy_text},
          {"celsius", order.celsius ? json::value(*order.celsius) : json::value(nullptr)},
          {"power_interval", order.power_interval},
          {"ptx", order.ptx == nullptr ? "" : digest(*order.ptx)},
          {"machine", machine_text(order.machine)},
          {"name", order.machine.name}};
}

// The PTX files of a submission that its runs have named so far.
using Kernels = std::map<std::string, std::shared_ptr<const std::string>>;

SlurmTask::Entry run_of(const json::object& run, const std::string& path, const std::string& submission,
                        Kernels& kernels) {
  SlurmTask::Entry entry;
  entry.key = run.at("key").as_string().c_str();
  RunOrder& order = entry.order;
  order.workload = run.at("workload").as_string().c_str();
  order.scale = run.at("scale").to_number<double>();
  order.seed = run.at("seed").to_number<std::uint64_t>();
  order.address_bits = run.at("address_bits").to_number<unsigned>();
  order.max_cycles = run.at("max_cycles").to_number<std::uint64_t>();
  order.energy = run.at("energy").as_string().c_str();
  order.energy_text = run.at("energy_text").as_string().c_str();
  if (!run.at("celsius").is_null()) {
    order.celsius = run.at("celsius").to_number<double>();
  }
  order.power_interval = run.at("power_interval").to_number<std::uint64_t>();
  if (const std::string name = run.at("ptx").as_string().c_str(); !name.empty()) {
    std::shared_ptr<const std::string>& ptx = kernels[name];
    if (ptx == nullptr) {
      ptx =
          std::make_shared<const std::string>(read_input_file(kernel_path(submission, name), kLargestTask, "kernels"));
    }
    order.ptx = ptx;
  }
  order.machine = tb::parse_machine(run.at("machine").as_string().c_str(), path);
  order.machine.name = run.at("name").as_string().c_str();
  return entry;
}

// Calls `use` with the object of every line.
template <class Use>
void each_line(const std::string& path, const Use& use) {
  const std::string text = read_input_file(path, kLargestTask, "task");
  try {
    bool first = true;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      use(json::parse(json::string_view(text.data() + at, end - at)).as_object(), first);
      first = false;
      at = end + 1;
    }
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({path}, fmt::format("is no task of a sweep: {}", error.what()));
  }
}

}  // namespace

std::string machine_text(const hw::Machine& machine) {
  hw::Machine copy = machine;
  std::string out;
  std::string section;
  for (const ParameterReference& parameter : parameters_of(copy)) {
    if (parameter.section != section) {
      section = parameter.section;
      out += "[" + section + "]\n";
    }
    out += parameter.key + " = " + parameter.value_text() + "\n";
  }
  return out;
}

std::string task_path(const std::string& submission, std::uint64_t index) {
  return fmt::format("{}/task-{}.jsonl", submission, index);
}

std::string kernel_path(const std::string& submission, const std::string& digest) {
  return fmt::format("{}/kernels-{}.ptx", submission, digest);
}

void write_kernels(const std::string& submission, const SlurmTask& task) {
  for (const SlurmTask::Entry& run : task.runs) {
    if (run.order.ptx == nullptr) {
      continue;
    }
    const std::string path = kernel_path(submission, digest(*run.order.ptx));
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      os::write_file(path, *run.order.ptx);
    }
  }
}

std::string task_text(const SlurmTask& task) {
  std::string out = json::serialize(json::object{{"build", task.build},
                                                 {"results", task.results},
                                                 {"wall_seconds", task.limits.wall_seconds},
                                                 {"cpu_seconds", task.limits.cpu_seconds},
                                                 {"memory_mib", task.limits.memory_mib}}) +
                    "\n";
  for (const SlurmTask::Entry& run : task.runs) {
    out += json::serialize(run_json(run)) + "\n";
  }
  return out;
}

SlurmTask read_task(const std::string& submission, std::uint64_t index) {
  SlurmTask task;
  const std::string path = task_path(submission, index);
  Kernels kernels;
  each_line(path, [&](const json::object& line, bool first) {
    if (!first) {
      task.runs.push_back(run_of(line, path, submission, kernels));
      return;
    }
    task.build = line.at("build").as_string().c_str();
    task.results = line.at("results").as_string().c_str();
    task.limits.wall_seconds = line.at("wall_seconds").to_number<double>();
    task.limits.cpu_seconds = line.at("cpu_seconds").to_number<double>();
    task.limits.memory_mib = line.at("memory_mib").to_number<std::uint64_t>();
  });
  return task;
}

std::vector<std::string> read_task_keys(const std::string& submission, std::uint64_t index) {
  std::vector<std::string> keys;
  each_line(task_path(submission, index), [&](const json::object& line, bool first) {
    if (!first) {
      keys.emplace_back(line.at("key").as_string().c_str());
    }
  });
  return keys;
}

}  // namespace heddle::studies::sweep
