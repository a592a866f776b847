#include "studies/sweep/order.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <csignal>
#include <exception>
#include <new>
#include <systemc>
#include <utility>

#include "base/error.hpp"
#include "tb/measure/run.hpp"

namespace heddle::studies::sweep {
namespace {

namespace json = boost::json;

constexpr int kNoMemory = 99;  // exit code of a run's process that got no more memory
constexpr std::size_t kLongestMessage = 2000;

RunReport do_run(const RunOrder& order) {
  tb::RunRequest request;
  request.machine = order.machine;
  request.subject = order.workload;
  request.scale = order.scale;
  request.seed = order.seed;
  request.address_bits = order.address_bits;
  request.device.max_cycles = order.max_cycles;
  request.keep_texts = true;
  if (order.ptx != nullptr) {
    request.make_subject = [&order](const tb::WorkloadOptions& options) {
      return tb::make_launch_subject(order.workload, options, order.ptx);
    };
  }
  RunReport report;
  try {
    if (!order.energy.empty()) {
      request.energy = tb::parse_energy_table(order.energy_text, order.energy);
      if (order.celsius) {
        tb::set_temperature(*request.energy, *order.celsius, {std::string(kTemperature)});
      }
      request.power = tb::PowerSteps{order.power_interval};
    }
    tb::RunOutcome outcome = tb::run(request);
    report.message = outcome.record.stop_reason;
    switch (outcome.ending) {
      case tb::RunOutcome::Ending::stopped:
        report.status = status::kStopped;
        break;
      case tb::RunOutcome::Ending::faulted:
        report.status = status::kFault;
        break;
      case tb::RunOutcome::Ending::finished: {
        const auto& verdict = outcome.record.verdict;
        const bool wrong = verdict && !verdict->correct;
        report.status = wrong ? status::kWrong : status::kDone;
        report.message = wrong ? verdict->detail : "";
        break;
      }
    }
    report.stats = std::move(outcome.stats_text);
    report.cost = outcome.cost;
  } catch (const InputError& error) {
    report.status = status::kRefused;
    report.message = error.what();
  } catch (const SimulatedFault& fault) {
    report.status = status::kFault;
    report.message = fault.what();
  } catch (const sc_core::sc_report& error) {
    report.status = status::kCrashed;
    report.message = fmt::format("internal error, reported by the SystemC kernel: {}", error.what());
  } catch (const std::exception& error) {
    report.status = status::kCrashed;
    report.message = fmt::format("internal error: {}", error.what());
  }
  return report;
}

// The child's side.
int work(const RunOrder& order, int report) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGXCPU, SIGPIPE}) {
    ::signal(signal, SIG_DFL);  // also signals that this process ignores
  }
  std::set_new_handler([] { ::_exit(kNoMemory); });
  return os::write_all(report, report_text(do_run(order))) ? 0 : static_cast<int>(ExitCode::internal_error);
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  text.remove_prefix(text.rfind('\n') + 1);  // npos + 1 is 0
  return std::string(text.substr(0, kLongestMessage));
}

std::string seconds_text(double seconds) {
  return fmt::format("{:g} s", seconds);
}

}  // namespace

bool may_retry(std::string_view status) {
  return status == status::kTimeout || status == status::kMemory || status == status::kCrashed;
}

RunOutput::RunOutput() : report(os::memory_file("heddle-report")), log(os::memory_file("heddle-log")) {}

os::ChildProcess start_run(const RunOrder& order, const RunLimits& limits, const RunOutput& output) {
  os::ProcessSetup setup;
  setup.in = os::Redirection::inherited();
  setup.out = os::Redirection::descriptor(output.log.number());
  setup.err = os::Redirection::output();
  setup.limits.memory_bytes = static_cast<std::uint64_t>(limits.memory_mib) << 20U;
  setup.limits.cpu_seconds = limits.cpu_seconds;
  setup.limits.wall_seconds = limits.wall_seconds;
  setup.limits.core_dumps = false;
  setup.dies_with_parent = true;
  return os::ChildProcess::copy([&] { return work(order, output.report.number()); }, setup);
}

RunReport read_report(const os::ProcessEnd& end, const RunLimits& limits, const RunOutput& output) {
  if (end.good()) {
    try {
      return parse_report(os::file_text(output.report.number()), "the run's report");
    } catch (const InputError& error) {
      return {std::string(status::kCrashed), error.what(), {}, {}, {}, false};
    }
  }
  RunReport report;
  const std::string said = last_line(os::file_text(output.log.number()));
  const int signal = end.signal;
  if (signal == 0 && end.exit_code == kNoMemory) {
    report.status = status::kMemory;
    report.message = limits.memory_mib == 0
                         ? "the host has no memory left"
                         : fmt::format("took more memory than the {} MiB of the limits", limits.memory_mib);
  } else if (signal == SIGALRM && limits.wall_seconds > 0) {
    report.status = status::kTimeout;
    report.message = fmt::format("took longer than the {} of the limits", seconds_text(limits.wall_seconds));
  } else if (signal == SIGXCPU && limits.cpu_seconds > 0) {
    report.status = status::kTimeout;
    report.message =
        fmt::format("took more CPU time than the {} of the limits", seconds_text(std::ceil(limits.cpu_seconds)));
  } else if (signal != 0) {
    report.status = status::kCrashed;
    report.message = fmt::format("ended by {}", end.text());
    report.interrupted = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  } else {
    report.status = status::kCrashed;
    report.message = "ended with " + end.text();
  }
  if (report.status == status::kCrashed && !said.empty()) {
    report.message += ": " + said;
  }
  return report;
}

std::string report_text(const RunReport& report) {
  json::object head{{"status", report.status}, {"message", report.message}, {"host", report.host}};
  tb::put_cost(head, report.cost);
  head["statistics_bytes"] = report.stats.size();
  return json::serialize(head) + "\n" + report.stats;
}

RunReport parse_report(std::string_view text, const std::string& place) {
  try {
    const std::size_t end = text.find('\n');
    const json::value whole = json::parse(json::string_view(text.data(), std::min(end, text.size())));
    const json::object& head = whole.as_object();
    RunReport report;
    report.status = head.at("status").as_string().c_str();
    report.message = head.at("message").as_string().c_str();
    report.host = head.at("host").as_string().c_str();
    report.cost = tb::cost_of(tb::RecordedValue(whole, place));
    report.stats = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (report.stats.size() != head.at("statistics_bytes").to_number<std::uint64_t>()) {
      throw InputError({place}, "its end is missing");
    }
    return report;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({place}, fmt::format("does not hold a run: {}", error.what()));
  }
}

}  // namespace heddle::studies::sweep
