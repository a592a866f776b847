#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <systemc>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/error_file.hpp"
#include "cli/printable.hpp"
#include "os/process/stopping.hpp"
#include "tb/device/device.hpp"
#include "tb/measure/version.hpp"

namespace heddle::cli {
namespace {

// Options that every command understands.
Command with_help(Command command) {
  command.options.add_options()("help,h", "show this text");
  return command;
}

const Command* find(const std::string& name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [&](const Command& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

[[noreturn]] void refuse_command(const std::string& name) {
  std::vector<std::string> names = {"help"};
  for (const Command& command : commands()) {
    names.push_back(command.name);
  }
  const bool option = name.starts_with("-");
  throw InputError(
      {}, fmt::format("there is no {} '{}'", option ? "option" : "command", name),
      option ? "options stand after a command; try heddle --help" : suggest(name, names, "known: " + join(names)));
}

// Raises a limit to the usual one where it is too low and this process may, else leaves it what it is. What it may be
// then.
rlim_t raised(decltype(RLIMIT_STACK) what, rlim_t needed, rlim_t usual) {
  rlimit limit{};
  if (::getrlimit(what, &limit) != 0) {
    return needed;
  }
  if (limit.rlim_cur < needed) {
    const rlim_t before = std::exchange(limit.rlim_cur, std::min(limit.rlim_max, usual));
    if (::setrlimit(what, &limit) != 0) {
      return before;
    }
  }
  return limit.rlim_cur;
}

// Throws InputError where the process may have too little. The stack grows by what its limit says now.
void check_limits() {
  constexpr rlim_t kStack = rlim_t{512} << 10U;
  constexpr rlim_t kFiles = 64;
  if (const rlim_t stack = raised(RLIMIT_STACK, kStack, rlim_t{8} << 20U); stack < kStack) {
    throw InputError(
        {}, fmt::format("the stack may have {} KiB (ulimit -s), and {} are needed", stack >> 10U, kStack >> 10U),
        "raise the limit: ulimit -s 8192");
  }
  if (const rlim_t files = raised(RLIMIT_NOFILE, kFiles, 1024); files < kFiles) {
    throw InputError({}, fmt::format("{} files may be open at once (ulimit -n), and {} are needed", files, kFiles),
                     "raise the limit: ulimit -n 1024");
  }
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::cerr << general_help();
    return static_cast<int>(ExitCode::bad_input);
  }
  const std::string& name = words.front();
  if (name == "--version" || name == "-V" || name == "version") {
    std::cout << "heddle " << tb::version() << "\n";
    return 0;
  }
  if (name == "help" || name == "--help" || name == "-h") {
    if (words.size() == 1) {
      std::cout << general_help();
      return 0;
    }
    const Command* command = find(words[1]);
    if (command == nullptr) {
      refuse_command(words[1]);
    }
    std::cout << help_of(*command);
    return 0;
  }
  const Command* command = find(name);
  if (command == nullptr) {
    refuse_command(name);
  }
  const Arguments arguments = parse(*command, {words.begin() + 1, words.end()});
  if (arguments.has("help")) {
    std::cout << help_of(*command);
    return 0;
  }
  check_limits();
  return command->run(arguments);
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> list;
    for (auto* make :
         {run_command, nvcc_command, exec_command, toolkit_command, compare_command, review_command, correlate_command,
          list_command, check_command, compile_command, dram_command, demo_command, reproduce_command, sweep_command,
          results_command, cost_command, diagram_command, bench_command, completion_command}) {
      list.push_back(with_help(make()));
    }
    return list;
  }();
  return all;
}

std::string general_help() {
  std::string out = fmt::format(
      "heddle {}: a cycle-level SystemC model of a SIMT GPU core that runs real kernels from PTX\n\n"
      "usage: heddle COMMAND [words]\n\n",
      tb::version());
  for (const Command& command : commands()) {
    out += fmt::format("  {:<12}{}\n", command.name, command.summary);
  }
  out += fmt::format("  {:<12}{}\n", "help", "this text, or that of a command: heddle help run");
  out +=
      "\nstart with\n"
      "  heddle demo                         every workload on the baseline machine, checked and measured\n"
      "  heddle run baseline nqueens         one workload on one machine\n"
      "  heddle list workloads               what there is to run\n"
      "\nexit codes: 0 good, 1 wrong result, 2 bad input, 3 the simulated program failed or hit a limit,\n"
      "4 internal error, 130 interrupted, 143 terminated, 129 hung up\n";
  return out;
}

std::string help_of(const Command& command) {
  std::ostringstream out;
  // Behind "--" every word is the program's.
  const bool options_first = command.operands.starts_with("-- ");
  out << "usage: heddle " << command.name << (options_first ? " [options]" : "")
      << (command.operands.empty() ? "" : " ") << command.operands << (options_first ? "" : " [options]") << "\n\n"
      << command.summary << "\n\n"
      << command.options;
  if (!command.details.empty()) {
    out << "\n" << command.details;
  }
  return out.str();
}

int run_program(const std::vector<std::string>& words) {
  const ErrorFile errors;
  PrintableStream out(std::cout);
  PrintableStream err(std::cerr);
  const auto report = [&](int code, std::string_view kind, const std::string& text,
                          const std::exception* error = nullptr) {
    std::cout.flush();
    std::cerr << "heddle: " << text << "\n";
    errors.write(code, kind, text, error);
    return code;
  };
  constexpr int kInput = static_cast<int>(ExitCode::bad_input);
  constexpr int kFault = static_cast<int>(ExitCode::simulated_fault);
  constexpr int kInternal = static_cast<int>(ExitCode::internal_error);
  const std::string internal = "internal error: ";
  try {
    const int code = dispatch(words);
    std::cout.flush();
    return std::cout ? code : report(kInput, "input", "the output cannot be written");
  } catch (const InputError& error) {
    return report(kInput, "input", error.what(), &error);
  } catch (const SimulatedFault& fault) {
    return report(kFault, "fault", fault.what());
  } catch (const tb::RunStopped& stop) {
    return report(kFault, "limit", stop.what());
  } catch (const os::Stopped& stop) {
    return report(kSignalExit + stop.signal(), "stopped", stop.what());
  } catch (const sc_core::sc_report& error) {
    return report(kInternal, "internal",
                  std::string("internal error, reported by the SystemC kernel: ") + error.what());
  } catch (const std::bad_alloc&) {
    return report(kInternal, "internal", internal + "the host has no memory left");
  } catch (const std::exception& error) {
    return report(kInternal, "internal", internal + error.what());
  } catch (...) {
    return report(kInternal, "internal", internal + "an exception of unknown kind");
  }
}

}  // namespace heddle::cli
