#include "studies/sweep/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "os/files/atomic_file.hpp"
#include "studies/reproduce/plan.hpp"
#include "studies/sweep/ask.hpp"
#include "studies/sweep/slurm_files.hpp"
#include "tb/measure/host_cost.hpp"

namespace heddle::studies::sweep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHint = "--launcher slurm needs Slurm's commands (Debian package slurm-client)";
constexpr std::size_t kLargestResult = std::size_t{256} << 20U;
constexpr int kGraceLooks = 3;  // at the results, after a job has left the queue: shared file systems are late

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string last_line_in(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text.substr(text.rfind('\n') + 1);
}

// One sweep on the cluster.
class Session {
 public:
  Session(const SlurmOptions& options, const Launcher::Job& job)
      : options_(options), job_(job), results_(options.folder + "/results") {
    for (const std::size_t entry : job.entries) {
      waiting_.emplace(job.plan.entries()[entry].key, entry);
    }
  }

  void run() {
    os::make_folder(results_);
    find_earlier();
    take_results();
    submit_rest();
    double asked = tb::wall_clock();
    while (!waiting_.empty()) {
      if (job_.stop != nullptr && job_.stop->load() != 0) {
        cancel();
        take_results();
        return;
      }
      job_.changed(running_);
      std::this_thread::sleep_for(std::chrono::duration<double>(options_.poll_seconds));
      take_results();
      if (!waiting_.empty() && tb::wall_clock() - asked >= options_.queue_seconds) {
        ask_queue();
        asked = tb::wall_clock();
      }
    }
    job_.changed(0);
    if (!crashed_) {  // what a crashed task printed stays
      clean_up();
    }
  }

 private:
  struct Submission {
    std::map<std::string, std::uint64_t> tasks;  // of each key that is waited for, its task
    int looks = 0;                               // since the job left the queue
  };

  [[nodiscard]] std::string name_of(std::uint64_t number) const {
    return fmt::format("heddle-{}-{}", digest(fs::absolute(options_.folder).lexically_normal().string()), number);
  }
  [[nodiscard]] std::string folder_of(std::uint64_t number) const {
    return fmt::format("{}/submission-{}", options_.folder, number);
  }

  // The folder itself goes when nothing else is in it: it may be one that the user has for more than this.
  void clean_up() const {
    std::error_code ignored;
    fs::remove_all(results_, ignored);
    for (std::uint64_t number = 1; number < next_; ++number) {
      fs::remove_all(folder_of(number), ignored);
    }
    fs::remove(options_.folder, ignored);
  }

  // Submissions of a sweep before this one whose jobs still exist: their runs are not submitted again.
  void find_earlier() {
    std::error_code error;
    std::vector<std::uint64_t> numbers;
    for (const auto& entry : fs::directory_iterator(options_.folder, error)) {
      const std::string name = entry.path().filename().string();
      constexpr std::string_view kPrefix = "submission-";
      std::uint64_t number = 0;
      if (name.starts_with(kPrefix) &&
          std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number).ec == std::errc()) {
        numbers.push_back(number);
        next_ = std::max(next_, number + 1);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    const std::map<std::uint64_t, std::size_t> alive = queued(numbers);
    for (const std::uint64_t number : numbers) {
      if (alive.count(number) == 0) {
        continue;
      }
      Submission& submission = submissions_[number];
      for (std::uint64_t task = 0; fs::exists(task_path(folder_of(number), task), error); ++task) {
        for (const std::string& key : read_task_keys(folder_of(number), task)) {
          if (waiting_.count(key) != 0) {
            submission.tasks.emplace(key, task);
          }
        }
      }
    }
  }

  // How many tasks of each job are still queued or running; a job without any has no entry.
  [[nodiscard]] std::map<std::uint64_t, std::size_t> queued(const std::vector<std::uint64_t>& numbers) {
    std::map<std::uint64_t, std::size_t> found;
    running_ = 0;
    if (numbers.empty()) {
      return found;
    }
    std::map<std::string, std::uint64_t> names;
    std::string list;
    for (const std::uint64_t number : numbers) {
      names.emplace(name_of(number), number);
      list += (list.empty() ? "" : ",") + name_of(number);
    }
    const Answer answer = ask({"squeue", "--noheader", "--array", "--name=" + list, "--format=%j %t"}, kHint);
    if (answer.exit_code != 0) {  // the controller is busy or restarting: nothing is known
      for (const std::uint64_t number : numbers) {
        found[number] = 1;
      }
      return found;
    }
    std::size_t at = 0;
    while (at < answer.out.size()) {
      const std::size_t end = std::min(answer.out.find('\n', at), answer.out.size());
      const std::string line = answer.out.substr(at, end - at);
      const std::size_t space = line.find(' ');
      if (const auto known = names.find(line.substr(0, space)); known != names.end()) {
        ++found[known->second];
        running_ += line.substr(space + 1).starts_with("R") ? 1 : 0;
      }
      at = end + 1;
    }
    return found;
  }

  [[nodiscard]] std::uint64_t largest_array() const {
    const Answer answer = ask({"scontrol", "show", "config"}, kHint);
    if (answer.exit_code != 0) {
      throw InputError({"scontrol"}, "Slurm does not answer: " + first_line(answer.err));
    }
    const std::size_t at = answer.out.find("MaxArraySize");
    const std::size_t equals = answer.out.find('=', std::min(at, answer.out.size()));
    std::uint64_t size = 0;
    if (at != std::string::npos && equals != std::string::npos) {
      const std::size_t digits = answer.out.find_first_not_of(" =", equals);
      std::from_chars(answer.out.data() + std::min(digits, answer.out.size()), answer.out.data() + answer.out.size(),
                      size);
    }
    if (size == 0) {
      throw InputError({"scontrol"}, "Slurm does not say its MaxArraySize, or forbids job arrays with 0");
    }
    return size;
  }

  void submit_rest() {
    std::set<std::string> submitted;
    for (const auto& [number, submission] : submissions_) {
      for (const auto& [key, task] : submission.tasks) {
        submitted.insert(key);
      }
    }
    std::vector<std::size_t> rest;
    for (const std::size_t entry : job_.entries) {
      const std::string& key = job_.plan.entries()[entry].key;
      if (waiting_.count(key) != 0 && submitted.count(key) == 0) {
        rest.push_back(entry);
      }
    }
    if (rest.empty()) {
      return;
    }
    const std::uint64_t most = largest_array();  // indices begin at 0 and stay below it
    const std::uint64_t wanted = job_.exploration.slurm.runs_per_task;
    const std::uint64_t per_task = wanted != 0 ? wanted : (rest.size() + most - 1) / most;
    for (std::size_t begin = 0; begin < rest.size(); begin += per_task * most) {
      if (job_.stop != nullptr && job_.stop->load() != 0) {
        return;
      }
      const std::size_t end = std::min<std::size_t>(rest.size(), begin + per_task * most);
      submit({rest.begin() + static_cast<std::ptrdiff_t>(begin), rest.begin() + static_cast<std::ptrdiff_t>(end)},
             per_task);
    }
  }

  void submit(const std::vector<std::size_t>& entries, std::uint64_t per_task) {
    const std::uint64_t number = next_++;
    const std::string folder = fs::absolute(folder_of(number)).string();
    os::make_folder(folder);
    Submission submission;
    std::uint64_t tasks = 0;
    for (std::size_t begin = 0; begin < entries.size(); begin += per_task, ++tasks) {
      SlurmTask task{job_.plan.build(), fs::absolute(results_).string(), job_.exploration.limits, {}};
      for (std::size_t i = begin; i < std::min<std::size_t>(entries.size(), begin + per_task); ++i) {
        Point point = job_.plan.point(entries[i]);
        if (point.order.workload.ends_with(".toml")) {
          point.order.workload = fs::absolute(point.order.workload).string();
        }
        submission.tasks.emplace(point.key, tasks);
        task.runs.push_back({std::move(point.key), std::move(point.order)});
      }
      write_kernels(folder, task);
      os::write_file(task_path(folder, tasks), task_text(task));
    }
    const std::string script = folder + "/task.sh";
    os::write_file(script, fmt::format("#!/bin/sh\nexec {} sweep --slurm-task {}\n", shell_word(options_.program),
                                       shell_word(folder)));
    std::vector<std::string> words = {"sbatch", "--parsable"};
    words.insert(words.end(), job_.exploration.slurm.options.begin(), job_.exploration.slurm.options.end());
    const std::uint64_t at_a_time = job_.exploration.slurm.at_a_time;
    words.insert(words.end(),
                 {"--job-name=" + name_of(number),
                  fmt::format("--array=0-{}{}", tasks - 1, at_a_time == 0 ? "" : fmt::format("%{}", at_a_time)),
                  "--output=" + folder + "/log-%a.txt", script});
    const Answer answer = ask(words, kHint);
    if (answer.exit_code != 0) {
      throw InputError({"sbatch"}, "Slurm refuses the job array: " + last_line_in(answer.err),
                       "[slurm] options are handed on to sbatch");
    }
    submissions_.emplace(number, std::move(submission));
  }

  void take_results() {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(results_, error)) {
      if (!entry.path().filename().string().starts_with(".")) {  // one that is being written
        found.push_back(entry.path());
      }
    }
    std::sort(found.begin(), found.end());
    for (const fs::path& path : found) {
      const std::string key = path.filename().string();
      if (const auto known = waiting_.find(key); known != waiting_.end()) {
        RunReport report;
        try {
          report = parse_report(read_input_file(path.string(), kLargestResult), path.string());
        } catch (const InputError& problem) {
          report.status = status::kCrashed;
          report.message = problem.what();
        }
        if (!report.interrupted) {
          end(known->second, report);
        }
        waiting_.erase(known);
      }
      fs::remove(path, error);
    }
  }

  void end(std::size_t entry, const RunReport& report) {
    crashed_ = crashed_ || report.status == status::kCrashed;
    job_.ended(entry, job_.plan.point(entry), report);
  }

  // Runs whose job is gone and that left no result are marked.
  void ask_queue() {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, submission] : submissions_) {
      numbers.push_back(number);
    }
    const std::map<std::uint64_t, std::size_t> alive = queued(numbers);
    for (auto submission = submissions_.begin(); submission != submissions_.end();) {
      if (alive.count(submission->first) != 0 || ++submission->second.looks < kGraceLooks) {
        ++submission;
        continue;
      }
      take_results();
      for (const auto& [key, task] : submission->second.tasks) {
        const auto known = waiting_.find(key);
        if (known == waiting_.end()) {
          continue;
        }
        RunReport report;
        report.status = status::kCrashed;
        report.message = "the cluster's task ended without a result";
        std::error_code error;
        const std::string log = fmt::format("{}/log-{}.txt", folder_of(submission->first), task);
        if (fs::exists(log, error)) {
          const std::string said = last_line_in(read_input_file(log, kLargestResult));
          report.message += said.empty() ? "" : ": " + said;
        }
        end(known->second, report);
        waiting_.erase(known);
      }
      submission = submissions_.erase(submission);
    }
  }

  void cancel() const {
    for (const auto& [number, submission] : submissions_) {
      static_cast<void>(ask({"scancel", "--name=" + name_of(number)}, kHint));
    }
  }

  const SlurmOptions& options_;
  const Launcher::Job& job_;
  std::string results_;
  std::map<std::string, std::size_t> waiting_;  // key to entry
  std::map<std::uint64_t, Submission> submissions_;
  std::uint64_t next_ = 1;
  std::size_t running_ = 0;
  bool crashed_ = false;
};

class Slurm final : public Launcher {
 public:
  explicit Slurm(SlurmOptions options) : options_(std::move(options)) {}
  void launch(const Job& job) override {
    if (!job.entries.empty()) {
      Session(options_, job).run();
    }
  }

 private:
  SlurmOptions options_;
};

}  // namespace

std::unique_ptr<Launcher> slurm_launcher(const SlurmOptions& options) {
  return std::make_unique<Slurm>(options);
}

}  // namespace heddle::studies::sweep
