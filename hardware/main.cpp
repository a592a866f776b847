// measure: runs campaigns of kernels on the GPU of this host, or under `heddle exec` on a simulated one. README.md says
// how.
//
// The driver is used by a process of its own, which writes the rows. When a kernel faults, which spoils the driver's
// state for good, that process ends and another goes on; when a kernel does not end, it is killed.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hardware/bench.hpp"
#include "hardware/results.hpp"

namespace heddle::hardware {
namespace {

using Clock = std::chrono::steady_clock;

// How a run ends.
constexpr int kDone = 0, kBad = 1, kNoDevice = 2, kUnfinished = 3;
// How a worker ends, beside those: by a fault that the next one does not have, and at the limit of time.
constexpr int kFaulted = 10, kLate = 11;

// Rows of so long may be measured again after a process was cut off.
constexpr std::chrono::milliseconds kUnsaved{300};

constexpr const char* kUsage =
    "usage: measure CAMPAIGN --out FILE [options]\n"
    "  CAMPAIGN           a list (JSON), a folder of lists, or the name of one beside this program\n"
    "  --out FILE         results; what FILE has already is not measured again\n"
    "  --only PATTERN     items whose name fits (* stands for anything); more than once: any of them\n"
    "  --again PATTERN    these are measured again\n"
    "  --repetitions N    of each item (5)\n"
    "  --clock CYCLES     how long a measurement of the clock takes (2000000); 0: it is not measured\n"
    "  --timeout SECONDS  that an item may take (30)\n"
    "  --limit SECONDS    that the run may take (230); a further run measures what is missing\n"
    "  --list             names the items and which are missing, and measures nothing\n"
    "Exit code 0: every item has a row; 1: bad input; 2: no GPU or driver; 3: items are missing still.\n";

struct Options {
  std::string campaign, out, again;
  std::vector<std::string> only;  // empty: all
  unsigned repetitions = 5;
  unsigned timeout = 30, limit = 230;
  unsigned long long clock = 2'000'000;
  bool list = false;
};

unsigned long long number_of(const std::string& option, const std::string& text, unsigned long long most,
                             unsigned long long least = 1) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < least || value > most) {
    throw Bad(option + ": '" + text + "' is no number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) throw Bad(word + " wants a value");
      return words[++i];
    };
    if (word == "--out") {
      options.out = value();
    } else if (word == "--only") {
      options.only.push_back(value());
    } else if (word == "--again") {
      options.again = value();
    } else if (word == "--repetitions") {
      options.repetitions = static_cast<unsigned>(number_of(word, value(), 10'000));
    } else if (word == "--timeout") {
      options.timeout = static_cast<unsigned>(number_of(word, value(), 100'000));
    } else if (word == "--limit") {
      options.limit = static_cast<unsigned>(number_of(word, value(), 1'000'000));
    } else if (word == "--clock") {
      options.clock = number_of(word, value(), 10'000'000'000ULL, 0);
    } else if (word == "--list") {
      options.list = true;
    } else if (word.starts_with("-") || !options.campaign.empty()) {
      throw Bad("'" + word + "' is not understood\n" + kUsage);
    } else {
      options.campaign = word;
    }
  }
  if (options.campaign.empty() || (options.out.empty() && !options.list)) throw Bad(kUsage);
  return options;
}

std::filesystem::path own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::string campaign_path(const std::string& name) {
  if (std::filesystem::exists(name)) return name;
  for (const std::string& place : {"campaigns/" + name + ".json", "campaigns/" + name}) {
    if (std::filesystem::exists(own_folder() / place)) return own_folder() / place;
  }
  throw Bad("there is no campaign '" + name + "': neither a file nor a folder, nor in " +
            (own_folder() / "campaigns").string());
}

bool wanted(const Options& options, const Item& item) {
  return options.only.empty() || std::any_of(options.only.begin(), options.only.end(),
                                             [&](const std::string& pattern) { return fits(item.name, pattern); });
}

struct Run {
  const Options& options;
  std::string campaign;
  std::vector<Item> items;
  Clock::time_point end;

  [[nodiscard]] std::vector<std::size_t> missing(const Results& results) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (wanted(options, items[i]) && !results.has(items[i])) out.push_back(i);
    }
    return out;
  }
};

// What measures, in its own process. `started` gets the number of each item before it begins.
int work(const Run& run, int started) {
  Results results(run.options.out, run.campaign);
  results.keep(run.items);
  Bench bench((own_folder() / "kernels").string());
  results.set_device(bench.device());
  if (run.options.clock != 0) results.add_clock(bench.clock(run.options.clock, run.options.repetitions));
  results.save();
  Clock::time_point saved = Clock::now();
  for (const std::size_t i : run.missing(results)) {
    if (Clock::now() > run.end) {
      results.save();
      return kLate;
    }
    const auto number = static_cast<std::uint32_t>(i);
    if (::write(started, &number, sizeof number) != sizeof number) return kBad;
    results.set(run.items, bench.row(run.items[i], run.options.repetitions));
    if (bench.lost() || Clock::now() - saved > kUnsaved) {
      results.save();
      saved = Clock::now();
    }
    if (bench.lost()) return kFaulted;
  }
  if (run.options.clock != 0) results.add_clock(bench.clock(run.options.clock, run.options.repetitions));
  results.save();
  return kDone;
}

int guarded(const Run& run, int started) {
  try {
    return work(run, started);
  } catch (const NoDevice& error) {
    std::fprintf(stderr, "measure: %s\n", error.what());
    return kNoDevice;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "measure: %s\n", error.what());
    return kBad;
  }
}

struct Ended {
  int code = kBad;
  bool in_item = false;  // it had begun one
  std::size_t item = 0;
  std::string reason;   // it did not end by itself
  bool killed = false;  // by this program, as it took too long
};

// One worker, to its end.
Ended watch(const Run& run) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) throw Bad(std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t worker = ::fork();
  if (worker < 0) throw Bad(std::string("fork: ") + std::strerror(errno));
  if (worker == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kBad);
    ::close(pipe_ends[0]);
    std::exit(guarded(run, pipe_ends[1]));
  }
  ::close(pipe_ends[1]);
  Ended ended;
  int status = 0;
  while (true) {
    pollfd waited = {pipe_ends[0], POLLIN, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(run.options.timeout) * 1000);
    if (ready < 0 && errno == EINTR) continue;
    std::uint32_t number = 0;
    if (ready == 0) {
      ::kill(worker, SIGKILL);
      ended.killed = true;
      ended.reason = "not over after " + std::to_string(run.options.timeout) + " s";
      break;
    }
    if (::read(pipe_ends[0], &number, sizeof number) != sizeof number) break;  // the worker has ended
    ended.in_item = true;
    ended.item = number;
  }
  ::close(pipe_ends[0]);
  while (::waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && ended.reason.empty()) {
    ended.reason = std::string("the process died: ") + ::strsignal(WTERMSIG(status));
  }
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

void print_summary(const Run& run, const Results& results) {
  std::size_t measured = 0, refused = 0, failed = 0, differs = 0;
  for (const Json& row : results.rows()) {
    const std::string& status = row["status"].string("status");
    ++(status == "measured" ? measured : status == "refused" ? refused : status == "differs" ? differs : failed);
  }
  std::printf("%s: %zu measured, %zu different from what is expected, %zu refused, %zu failed, %zu missing: %s\n",
              run.campaign.c_str(), measured, differs, refused, failed, run.missing(results).size(),
              run.options.out.c_str());
}

int measure_all(const Run& run) {
  bool began = false;
  while (true) {
    Results results(run.options.out, run.campaign);
    results.keep(run.items);
    if (run.missing(results).empty()) {
      print_summary(run, results);
      return kDone;
    }
    const Ended ended = watch(run);
    Results after(run.options.out, run.campaign);
    after.keep(run.items);
    const bool told = ended.in_item && after.has(run.items[ended.item]);
    if (!ended.reason.empty()) {
      if (!ended.in_item || told) throw Bad("the driver: " + ended.reason);
      Json row;
      row.set("name", run.items[ended.item].name);
      row.set("group", run.items[ended.item].spec["group"]);
      row.set("key", run.items[ended.item].key);
      row.set("status", ended.killed ? "timeout" : "fault");
      row.set("reason", ended.reason);
      after.set(run.items, row);
      after.save();
    } else if (ended.code == kNoDevice && !began) {
      return kNoDevice;
    } else if (ended.code == kBad) {
      return kBad;
    } else if (ended.code != kFaulted && ended.code != kDone) {  // late, or the device takes no second process
      print_summary(run, after);
      return kUnfinished;
    }
    began = true;
  }
}

int run_all(int count, char** words) {
  const Options options = options_of(count, words);
  const std::string path = campaign_path(options.campaign);
  Run run{options, std::filesystem::path(path).stem().string(), read_campaign(path),
          Clock::now() + std::chrono::seconds(options.limit)};
  for (const Item& item : run.items) {  // what is wrong with a list shows before anything is measured
    for (const unsigned repeat : repeats_of(item)) (void)ptx_of(item, repeat);
  }
  for (const std::string& pattern : options.only) {
    if (std::none_of(run.items.begin(), run.items.end(), [&](const Item& item) { return fits(item.name, pattern); })) {
      throw Bad(path + ": no item's name fits '" + pattern + "'");
    }
  }
  if (options.list) {
    Results results(options.out, run.campaign);
    results.keep(run.items);
    for (const Item& item : run.items) {
      if (wanted(options, item)) std::printf("%s %s\n", results.has(item) ? "has    " : "missing", item.name.c_str());
    }
    return kDone;
  }
  if (!options.again.empty()) {
    Results results(options.out, run.campaign);
    std::vector<Item> others;
    for (const Item& item : run.items) {
      if (!fits(item.name, options.again)) others.push_back(item);
    }
    results.keep(others);
    results.save();
  }
  return measure_all(run);
}

}  // namespace
}  // namespace heddle::hardware

int main(int count, char** words) {
  try {
    return heddle::hardware::run_all(count, words);
  } catch (const heddle::hardware::Bad& error) {
    std::fprintf(stderr, "measure: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "measure: %s\n", error.what());
  }
  return 1;
}
