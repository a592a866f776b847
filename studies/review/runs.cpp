#include "studies/review/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/process/children.hpp"
#include "os/process/stopping.hpp"
#include "studies/reproduce/plan.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/record.hpp"

namespace heddle::studies {
namespace {

namespace fs = std::filesystem;

// The running program itself, even when its file has been replaced by a later build meanwhile.
constexpr const char* kOwnProgram = "/proc/self/exe";
constexpr std::uint64_t kEnergyInterval = 1000;  // cycles, of power

std::string whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string key_of(const ReviewRun& run, const std::string& build) {
  std::string key = run_key(run.machine, run.subject.name + run.subject.contents, run.scale, build, run.seed);
  if (!run.energy.empty()) {
    key += fmt::format("energy {}\n", digest(tb::read_energy_text(run.energy.table)));
    if (run.energy.celsius) {
      key += fmt::format("temperature {}\n", *run.energy.celsius);
    }
  }
  if (run.until != 0) {
    key += fmt::format("until {} from {} waves {}\n", run.until, run.from, run.waves);
  }
  return key;
}

// The file that a look at some cycles is for; empty: a whole run.
std::string product_of(const ReviewRun& run) {
  return run.until == 0 ? "" : run.waves.empty() ? "/pipeline.kanata" : "/waves.vcd";
}

// Why a folder holds no result of this run; empty: it does.
std::string lack_of(const ReviewRun& run, const std::string& folder) {
  if (run.until != 0) {
    return fs::exists(folder + product_of(run)) ? "" : "left no " + product_of(run).substr(1);
  }
  try {
    const tb::RunFiles files = tb::read_run(folder);
    if (!files.complete) {
      return files.stop_reason;
    }
    if (files.verdict && !files.verdict->correct) {
      return "wrong result: " + files.verdict->detail;
    }
    return run.energy.empty() || files.energy ? "" : "is not priced";
  } catch (const InputError& error) {
    return error.what();
  }
}

os::ChildCommand command_of(const ReviewRun& run, const std::string& folder, const std::string& key) {
  std::error_code error;
  fs::remove_all(folder, error);  // what another key, or a run that was ended, has left
  os::make_folder(folder);
  os::write_file(folder + "/key.txt", key);
  os::ChildCommand command;
  command.words = {kOwnProgram, "run", tb::find_config(run.config), run.subject.name, "--out", folder, "--quiet",
                   "--threads", "1"};
  const auto add = [&](std::initializer_list<std::string> words) { command.words.insert(command.words.end(), words); };
  if (!run.subject.is_launch_file()) {
    add({"--scale", fmt::format("{}", run.scale), "--seed", std::to_string(run.seed)});
  }
  for (const std::string& setting : run.settings) {
    add({"--set", setting});
  }
  if (!run.energy.empty()) {
    add({"--energy", run.energy.table, "--power", folder + "/power.json", "--power-interval",
         std::to_string(kEnergyInterval)});
    if (run.energy.celsius) {
      add({"--temperature", fmt::format("{}", *run.energy.celsius)});
    }
  }
  if (run.until != 0) {
    add({"--max-cycles", std::to_string(run.until + 1), "--from", std::to_string(run.from), "--to",
         std::to_string(run.until)});
    if (run.waves.empty()) {
      add({"--pipeline", folder + product_of(run)});
    } else {
      add({"--vcd", folder + product_of(run), "--signals", run.waves});
    }
  }
  command.log = folder + "/run.log";
  os::write_file(command.log, "");
  return command;
}

// A look ends by its limit of cycles.
bool ended_well(const ReviewRun& run, const os::ChildResult& result) {
  return result.exit_code == 0 || (run.until != 0 && result.exit_code == static_cast<int>(ExitCode::simulated_fault));
}

}  // namespace

std::string ReviewRunner::folder_of(const ReviewRun& run, const std::string& key) const {
  std::string name = fmt::format("{}-{}", run.subject.name, run.machine.name);
  std::replace_if(
      name.begin(), name.end(), [](char letter) { return letter == ':' || letter == ',' || letter == '/'; }, '-');
  return fmt::format("{}/runs/{}-{}", folder, name, digest(parts_of_key(key).rest));
}

std::vector<ReviewRunDone> ReviewRunner::run(const std::vector<ReviewRun>& runs) {
  static const std::string build = program_build();
  std::vector<ReviewRunDone> done(runs.size());
  std::map<std::string, std::size_t> first;  // by folder
  std::vector<os::ChildCommand> commands;
  std::vector<std::size_t> pending;  // of each command, its run
  const auto is_there = [](const ReviewRun& one, const std::string& key, const std::string& in) {
    return whole_file(in + "/key.txt") == key && lack_of(one, in).empty();
  };
  for (std::size_t i = 0; i != runs.size(); ++i) {
    ReviewRun one = runs[i];
    std::string key = key_of(one, build);
    done[i].folder = folder_of(one, key);
    if (one.energy.empty() && one.until == 0 && !priced_by.empty() && !is_there(one, key, done[i].folder)) {
      one.energy = priced_by;
      const std::string priced = key_of(one, build);
      if (const std::string in = folder_of(one, priced); is_there(one, priced, in)) {
        done[i].folder = in;
        key = priced;
      } else {
        one.energy = {};
      }
    }
    if (!first.emplace(done[i].folder, i).second) {
      continue;
    }
    if (is_there(one, key, done[i].folder)) {
      done[i].reused = true;
      kept += seen.insert(done[i].folder).second ? 1 : 0;
      continue;
    }
    commands.push_back(command_of(one, done[i].folder, key));
    pending.push_back(i);
  }
  const auto changed = [&](std::size_t count, const std::vector<std::size_t>& running) {
    if (progress) {
      std::string line = fmt::format("{} of {} runs done", count, commands.size());
      for (const std::size_t index : running) {
        line += fmt::format("; {} on {}", runs[pending[index]].subject.name, runs[pending[index]].machine.name);
      }
      progress(line);
    }
  };
  const std::vector<os::ChildResult> results = os::run_children(commands, jobs, changed, {}, stop);
  if (stop != nullptr && *stop != 0) {
    for (std::size_t i = 0; i != commands.size(); ++i) {  // what was ended half way holds no result
      if (results[i].exit_code != 0) {
        std::error_code error;
        fs::remove(done[pending[i]].folder + "/key.txt", error);
      }
    }
    throw os::Stopped(*stop, "before the review's runs were done");
  }
  for (std::size_t i = 0; i != commands.size(); ++i) {
    ReviewRunDone& one = done[pending[i]];
    one.failure = ended_well(runs[pending[i]], results[i]) ? lack_of(runs[pending[i]], one.folder) : results[i].output;
    ++ran;
    seen.insert(one.folder);
  }
  for (std::size_t i = 0; i != runs.size(); ++i) {
    done[i] = done[first.at(done[i].folder)];
  }
  return done;
}

}  // namespace heddle::studies
