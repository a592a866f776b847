// Long: one class, whose sections share the runs of the review; what needs machines or files alone is in parts.cpp.
#include "studies/review/review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/file_lock.hpp"
#include "studies/pages/compare/compare.hpp"
#include "studies/pages/page/data_page.hpp"
#include "studies/pages/page/declarations.hpp"
#include "studies/review/parts.hpp"
#include "studies/review/work.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/record.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;

// Parameters that a review changes by itself, to see which matter: each halved and doubled.
const std::vector<std::string>& usual_parameters() {
  static const std::vector<std::string> keys = {"core.threads",        "l1d.bytes",    "l1d.hit_latency",
                                                "dram.bandwidth_gbs",  "dram.row_hit", "core.complex_latency",
                                                "noc.request_latency", "icache.bytes"};
  return keys;
}

// A decision where the papers can be read in more than one way (docs/machine.md).
struct OpenReading {
  const char* key;
  const char* ours;
  const char* other;
  const char* question;
};
constexpr std::array<OpenReading, 4> kReadings = {{
    {"dram.scheduler", "fcfs", "fcfs-per-bank",
     "Is first come, first served one order of all requests, or one per bank?"},
    {"dram.row_bytes", "4096", "2048", "How large is the DRAM row of the LWM report?"},
    {"core.complex_queue", "16", "0", "How many complex operations can wait for their unit while others pass?"},
    {"warp_aware.first", "row-hits", "warps", "Does a warp's group come before row hits, or behind them?"},
}};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

class Reviewer {
 public:
  explicit Reviewer(const ReviewOptions& options) : options_(options) {
    runner_.folder = options.folder;
    runner_.jobs = options.jobs;
    runner_.progress = options.progress;
    runner_.stop = options.stop;
    read_machines();
    subjects_ = read_review_subjects(options.workloads);
    if (!options.energy.empty()) {
      energy_ = {tb::find_energy_table(options.energy.table), options.energy.celsius};
      tb::EnergyTable table = tb::read_energy_table(options.energy.table);
      if (options.energy.celsius) {
        tb::set_temperature(table, *options.energy.celsius, {"--temperature"});
      }
    }
    runner_.priced_by = options.priced_by;
    for (const std::string& key : options.parameters) {
      check_parameter(key);
    }
  }

  Review make() {
    os::make_folder(options_.folder);
    const os::FolderLock lock(options_.folder, "another review");
    json::object& data = review_.data;
    data["kind"] = "review";
    data["heddle"] = tb::version();
    data["command"] = options_.command;
    data["scale"] = options_.scale;
    data["launch_files"] = json::array();
    for (const ReviewSubject& subject : subjects_) {
      if (subject.is_launch_file()) data["launch_files"].as_array().emplace_back(subject.name);
    }
    json::array sections;
    for (const ReviewSection& section : kReviewSections) {
      if (options_.sections.count(std::string(section.name)) != 0) {
        sections.emplace_back(section.name);
      }
    }
    data["sections"] = std::move(sections);
    data["seeds"] = options_.seeds;
    data["placements"] = options_.placements;
    data["declarations"] = pages::declarations_json();
    json::array names;
    for (const ReviewedMachine& one : machines_) {
      names.push_back(json::object{
          {"name", one.name}, {"description", one.machine.description}, {"clock_ghz", one.machine.gpu.clock_ghz}});
    }
    data["machines"] = std::move(names);
    data["workloads"] = json::array(options_.workloads.begin(), options_.workloads.end());
    const json::array differences = review_differences(machines_);
    if (wants("differences")) data["differences"] = differences;
    if (wants("storage")) data["storage"] = review_storage(machines_);
    main_runs();
    if (wants("causes")) data["causes"] = causes();
    if (wants("diagrams")) data["diagrams"] = review_diagrams(machines_, differences, options_);
    if (wants("closely")) data["closely"] = closely();
    if (wants("sensitivity")) data["sensitivity"] = sensitivity();
    if (wants("readings")) data["readings"] = readings();
    review_.ran = runner_.ran;
    review_.kept = runner_.kept;
    data["failures"] = json::array(review_.failures.begin(), review_.failures.end());
    data["notes"] = json::array(review_.notes.begin(), review_.notes.end());
    review_.text = text();
    return std::move(review_);
  }

 private:
  [[nodiscard]] bool wants(const char* section) const { return options_.sections.count(section) != 0; }

  void read_machines() {
    std::map<std::string, unsigned> times;
    for (const std::string& config : options_.machines) {
      ReviewedMachine one{{}, config, options_.settings, {}, {}};
      one.machine = tb::read_machine(config, options_.settings, one.notes);
      const unsigned before = times[one.machine.name]++;
      one.name = before == 0 ? one.machine.name : fmt::format("{} ({})", one.machine.name, before + 1);
      for (const std::string& note : one.notes) {
        review_.notes.push_back(one.name + ": " + note);
      }
      machines_.push_back(std::move(one));
    }
  }

  void check_parameter(const std::string& key) const {
    hw::Machine machine;
    std::vector<std::string> known;
    for (const ParameterReference& parameter : parameters_of(machine)) {
      const bool counts = parameter.type_name() == "integer" || parameter.type_name() == "number";
      if (parameter.path() == key && !counts) {
        throw InputError({"--parameters"}, fmt::format("{} is no number, which could be halved and doubled", key));
      }
      if (counts) {
        known.push_back(parameter.path());
      }
    }
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw InputError({"--parameters"}, fmt::format("there is no parameter '{}'", key),
                       suggest(key, known, "heddle list parameters names them"));
    }
  }

  // With which input and buffers a subject runs. The first one stands for all where one run is looked at. A launch file
  // has one input.
  struct Sample {
    std::uint64_t seed = 1;
    std::uint64_t placement = 0;  // 0: by the machine's allocator
  };
  [[nodiscard]] std::vector<Sample> samples(const ReviewSubject& subject) const {
    std::vector<Sample> out;
    for (std::uint64_t seed = 1; seed <= (subject.is_launch_file() ? 1 : options_.seeds); ++seed) {
      for (std::uint64_t placement = options_.placements == 0 ? 0 : 1; placement <= options_.placements; ++placement) {
        out.push_back({seed, placement});
      }
    }
    return out;
  }
  [[nodiscard]] ReviewRun run_of(std::size_t machine, const ReviewSubject& subject, const Sample& sample) const {
    const ReviewedMachine& one = machines_[machine];
    const double scale = subject.is_launch_file() ? 1 : options_.scale;
    ReviewRun run{one.config, one.settings, one.machine, subject, scale, sample.seed, energy_, 0, 0, {}};
    if (sample.placement != 0) {
      run.settings.emplace_back("allocation.placement=seeded");
      run.settings.push_back(fmt::format("allocation.seed={}", sample.placement));
      run.machine = tb::read_machine(run.config, run.settings);
    }
    return run;
  }
  [[nodiscard]] ReviewRun run_of(std::size_t machine, const ReviewSubject& subject) const {
    return run_of(machine, subject, samples(subject).front());
  }
  [[nodiscard]] ReviewRun run_of_worst(std::size_t machine) const {
    const auto is_worst = [&](const ReviewSubject& subject) { return subject.name == worst_.first; };
    return run_of(machine, *std::find_if(subjects_.begin(), subjects_.end(), is_worst));
  }
  // `run` with another value of a parameter; none: the machine cannot be so, or does not look at it.
  [[nodiscard]] static std::optional<ReviewRun> changed(ReviewRun run, const std::string& setting) {
    const std::string key = setting.substr(0, setting.find('='));
    std::erase_if(run.settings, [&](const std::string& own) { return own.substr(0, own.find('=')) == key; });
    run.settings.push_back(setting);
    run.energy = {};
    std::vector<std::string> in_vain;  // what the settings say without effect
    try {
      run.machine = tb::read_machine(run.config, run.settings, in_vain);
    } catch (const InputError&) {
      return std::nullopt;
    }
    const bool heard = std::none_of(in_vain.begin(), in_vain.end(),
                                    [&](const std::string& note) { return note.find(key) != std::string::npos; });
    return heard ? std::optional(run) : std::nullopt;
  }
  [[nodiscard]] static std::string value_of(const hw::Machine& machine, const std::string& key) {
    hw::Machine copy = machine;
    for (const ParameterReference& parameter : parameters_of(copy)) {
      if (parameter.path() == key) {
        return parameter.value_text();
      }
    }
    throw InternalError("no parameter is called " + key);
  }

  // Runs of which one that fails is told, and is none.
  std::vector<std::optional<json::object>> stats_of(const std::vector<ReviewRun>& runs,
                                                    std::vector<std::string>* folders = nullptr) {
    std::vector<std::optional<json::object>> out;
    const std::vector<ReviewRunDone> done = runner_.run(runs);
    for (std::size_t i = 0; i != runs.size() && folders != nullptr; ++i) {
      folders->push_back(done[i].folder);
    }
    for (std::size_t i = 0; i != runs.size(); ++i) {
      if (!done[i].failure.empty()) {
        const std::string failure = fmt::format(
            "{} on {}{}: {}", runs[i].subject.name, runs[i].machine.name,
            runs[i].subject.is_launch_file() ? "" : fmt::format(", seed {}", runs[i].seed), done[i].failure);
        if (std::find(review_.failures.begin(), review_.failures.end(), failure) == review_.failures.end()) {
          review_.failures.push_back(failure);
        }
        out.emplace_back();
      } else {
        out.push_back(tb::read_stats(tb::stats_path(done[i].folder)).as_object());
      }
    }
    return out;
  }
  void main_runs() {
    struct Of {
      std::size_t machine;
      std::uint64_t placement;
      bool first;  // of its samples
    };
    std::vector<ReviewRun> runs;
    std::vector<Of> of;
    for (const ReviewSubject& subject : subjects_) {
      const std::vector<Sample> each = samples(subject);
      for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
        for (const Sample& sample : each) {
          runs.push_back(run_of(machine, subject, sample));
          of.push_back({machine, sample.placement, &sample == &each.front()});
        }
      }
    }
    std::vector<std::string> folders;
    const std::vector<std::optional<json::object>> all = stats_of(runs, &folders);
    json::array results;
    for (std::size_t i = 0; i != runs.size(); ++i) {
      if (!all[i]) {
        continue;
      }
      const json::object& stats = *all[i];
      const std::size_t machine = of[i].machine;
      const std::string& workload = runs[i].subject.name;
      json::object row{
          {"workload", workload}, {"machine", machine}, {"seed", runs[i].seed}, {"placement", of[i].placement}};
      for (const auto& one : review_figures(stats)) {
        row.insert(one);
      }
      cycles_[{workload, machine}].push_back(summary_figure(stats, "cycles"));
      if (of[i].first) {
        folders_[{workload, machine}] = folders[i];
        work_[{workload, machine}] = work_of(stats, runs[i].subject);
      }
      results.push_back(std::move(row));
    }
    review_.data["results"] = std::move(results);
    json::array other_inputs;
    for (const std::string& workload : options_.workloads) {
      for (std::size_t machine = 1; machine != machines_.size(); ++machine) {
        if (const ReviewWork& own = work_[{workload, machine}], &base = work_[{workload, 0}]; !own.same_input(base)) {
          review_.notes.push_back(fmt::format(
              "{} has another input on {} than on {}, with {:.2f} times the thread instructions: at this scale it "
              "follows the machine's threads, so there is no speed-up",
              workload, machines_[machine].name, machines_[0].name, own.instructions / base.instructions));
          other_input_.insert({workload, machine});
          other_inputs.push_back(json::object{{"workload", workload}, {"machine", machine}});
          continue;
        }
        const double up = speed_up(workload, machine);
        if (up != 0 && (worst_.second == 0 || up < speed_up(worst_.first, worst_.second))) {
          worst_ = {workload, machine};
        }
      }
    }
    review_.data["other_input"] = std::move(other_inputs);
    review_.data["worst"] = nullptr;
    if (worst_.second != 0) {
      review_.data["worst"] = json::object{
          {"workload", worst_.first}, {"machine", worst_.second}, {"speed_up", speed_up(worst_.first, worst_.second)}};
    }
  }

  // What a launch file's verdict says is of its output: all machines have one input.
  static ReviewWork work_of(const json::object& stats, const ReviewSubject& subject) {
    return {subject.is_launch_file() ? "" : stats.at("verdict").at("detail").as_string().c_str(),
            summary_figure(stats, "thread_instructions")};
  }
  // Of a design over the base, in time: machines may have clocks of their own.
  [[nodiscard]] double speed_up(double base_cycles, double cycles, std::size_t machine) const {
    return base_cycles / cycles * machines_[machine].machine.gpu.clock_ghz / machines_[0].machine.gpu.clock_ghz;
  }
  // Likewise of means over the samples; 0: a run is missing, or the two had different inputs.
  [[nodiscard]] double speed_up(const std::string& workload, std::size_t machine) const {
    const auto base = cycles_.find({workload, 0});
    const auto own = cycles_.find({workload, machine});
    const bool none = base == cycles_.end() || own == cycles_.end() || other_input_.count({workload, machine}) != 0;
    return none ? 0 : speed_up(mean(base->second), mean(own->second), machine);
  }

  // By workload the comparison of the base with the designs that ran, of the first sample, as heddle compare
  // has it.
  json::array causes() {
    json::array out;
    for (const std::string& workload : options_.workloads) {
      std::vector<std::string> paths;
      std::vector<std::size_t> of;
      for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
        const auto found = folders_.find({workload, machine});
        if (found != folders_.end()) {
          paths.push_back(found->second);
          of.push_back(machine);
        }
      }
      if (of.size() < 2 || of.front() != 0) {
        continue;
      }
      const std::vector<pages::ComparedRun> runs = pages::read_compared_runs(paths);
      json::object compared = json::parse(pages::compare_data(runs, "")).as_object();
      json::array reasons = compared.at("explanations").as_array();
      for (std::size_t i = 0; i != reasons.size(); ++i) {
        json::object& why = reasons[i].as_object();
        why["machine"] = of[i + 1];
        why["from"] = runs.front().summary.cycles;
        why["to"] = runs[i + 1].summary.cycles;
      }
      out.push_back(json::object{{"workload", workload}, {"explanations", std::move(reasons)}});
    }
    return out;
  }

  json::value closely() {
    if (worst_.second == 0) {
      return nullptr;
    }
    return review_closely(run_of_worst(0), run_of_worst(worst_.second), runner_);
  }

  // A value of a parameter on the base and on the design of the worst workload: so many times that of the base.
  struct Tried {
    std::string key;
    double factor;
    std::string value;
    std::vector<ReviewRun> runs;  // base, design
  };
  [[nodiscard]] std::optional<Tried> tried(const std::string& key, double factor) const {
    const ReviewRun base = run_of_worst(0);
    const ReviewRun design = run_of_worst(worst_.second);
    const double now = std::stod(value_of(base.machine, key));
    const bool whole = value_of(base.machine, key).find('.') == std::string::npos;
    const double then = now * factor;
    if (now == 0 || (whole && then != std::floor(then))) {
      return std::nullopt;
    }
    Tried out{key, factor, whole ? fmt::format("{:.0f}", then) : fmt::format("{}", then), {}};
    for (const ReviewRun& run : {base, design}) {
      if (std::stod(value_of(run.machine, key)) == then) {  // which has been run
        out.runs.push_back(run);
        continue;
      }
      const auto other = changed(run, fmt::format("{}={}", key, out.value));
      if (!other) {
        return std::nullopt;
      }
      out.runs.push_back(*other);
    }
    return out;
  }
  // Cycles of each; pairs of which a run failed are left out, and parameters that change the workload's input.
  json::array try_all(const std::vector<Tried>& all) {
    std::vector<ReviewRun> runs;
    for (const Tried& one : all) {
      runs.insert(runs.end(), one.runs.begin(), one.runs.end());
    }
    const std::vector<std::optional<json::object>> stats = stats_of(runs);
    json::array out;
    for (std::size_t i = 0; i != all.size(); ++i) {
      if (!stats[2 * i] || !stats[2 * i + 1]) {
        continue;
      }
      const auto same = [&](std::size_t run, std::size_t machine) {
        return work_of(*stats[run], runs[run].subject).same_input(work_[{worst_.first, machine}]);
      };
      if (!same(2 * i, 0) || !same(2 * i + 1, worst_.second)) {
        const std::string note = fmt::format(
            "{} has another input with another {}: that is no sensitivity, and left out", worst_.first, all[i].key);
        if (std::find(review_.notes.begin(), review_.notes.end(), note) == review_.notes.end()) {
          review_.notes.push_back(note);
        }
      } else {
        out.push_back(json::object{{"key", all[i].key},
                                   {"factor", all[i].factor},
                                   {"value", all[i].value},
                                   {"own", value_of(machines_[worst_.second].machine, all[i].key)},
                                   {"base", summary_figure(*stats[2 * i], "cycles")},
                                   {"design", summary_figure(*stats[2 * i + 1], "cycles")}});
      }
    }
    return out;
  }

  json::value sensitivity() {
    if (worst_.second == 0) {
      return nullptr;
    }
    json::object out{{"workload", worst_.first}, {"machine", worst_.second}};
    const double base = cycles_.at({worst_.first, 0}).front();
    const double design = cycles_.at({worst_.first, worst_.second}).front();
    out["base"] = base;
    out["design"] = design;
    std::vector<std::string> keys = options_.parameters;
    std::vector<Tried> steps;
    if (keys.empty()) {
      for (const std::string& key : usual_parameters()) {
        for (const double factor : {0.5, 2.0}) {
          if (auto one = tried(key, factor)) steps.push_back(*std::move(one));
        }
      }
      const json::array first = try_all(steps);
      // How far a parameter moves either machine's cycles.
      std::map<std::string, double> effect;
      for (const json::value& one : first) {
        double& most = effect[one.at("key").as_string().c_str()];
        most = std::max({most, std::abs(std::log(one.at("base").to_number<double>() / base)),
                         std::abs(std::log(one.at("design").to_number<double>() / design))});
      }
      out["tried"] = first;
      keys = usual_parameters();
      std::erase_if(keys, [&](const std::string& key) { return effect[key] == 0; });
      std::stable_sort(keys.begin(), keys.end(), [&](auto& a, auto& b) { return effect[a] > effect[b]; });
      keys.resize(std::min<std::size_t>(keys.size(), 2));
    }
    json::array swept;
    for (const std::string& key : keys) {
      steps.clear();
      for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
        if (auto one = tried(key, factor)) steps.push_back(*std::move(one));
      }
      swept.push_back(json::object{{"key", key}, {"points", try_all(steps)}});
    }
    out["swept"] = std::move(swept);
    return out;
  }

  // Every workload under the other reading, where all machines have ours.
  json::array readings() {
    json::array out;
    for (const OpenReading& reading : kReadings) {
      const auto has_ours = [&](const ReviewedMachine& one) {
        std::string value = value_of(one.machine, reading.key);
        std::erase(value, '"');
        return value == reading.ours;
      };
      if (!std::all_of(machines_.begin(), machines_.end(), has_ours)) {
        continue;
      }
      std::vector<ReviewRun> runs;
      const std::string setting = fmt::format("{}={}", reading.key, reading.other);
      bool possible = true;
      for (const ReviewSubject& subject : subjects_) {
        for (std::size_t machine = 0; machine != machines_.size(); ++machine) {
          const auto run = changed(run_of(machine, subject), setting);
          possible = possible && run;
          if (run) runs.push_back(*run);
        }
      }
      if (!possible) {
        continue;
      }
      const std::vector<std::optional<json::object>> stats = stats_of(runs);
      json::array rows;
      for (std::size_t i = 0; i != runs.size(); ++i) {
        const std::size_t machine = i % machines_.size();
        const std::size_t base = i - machine;
        const std::string& workload = runs[i].subject.name;
        const auto own = cycles_.find({workload, machine});
        const auto ours = cycles_.find({workload, 0});
        if (machine == 0 || !stats[i] || !stats[base] || own == cycles_.end() || ours == cycles_.end() ||
            other_input_.count({workload, machine}) != 0) {
          continue;
        }
        rows.push_back(json::object{{"workload", workload},
                                    {"machine", machine},
                                    {"up", speed_up(ours->second.front(), own->second.front(), machine)},
                                    {"other_up", speed_up(summary_figure(*stats[base], "cycles"),
                                                          summary_figure(*stats[i], "cycles"), machine)}});
      }
      out.push_back(json::object{{"key", reading.key},
                                 {"ours", reading.ours},
                                 {"other_value", reading.other},
                                 {"question", reading.question},
                                 {"speed_ups", std::move(rows)}});
    }
    return out;
  }

  [[nodiscard]] std::string text() const {
    std::vector<TextTable::Column> columns = {{"workload"}, {machines_.front().name + ", cycles"}};
    for (std::size_t machine = 1; machine != machines_.size(); ++machine) {
      columns.push_back({machines_[machine].name + ", speed-up"});
    }
    TextTable table(std::move(columns));
    for (const std::string& workload : options_.workloads) {
      const auto base = cycles_.find({workload, 0});
      std::vector<std::string> row = {
          workload,
          base == cycles_.end() ? "-" : grouped(static_cast<std::uint64_t>(std::llround(mean(base->second))))};
      for (std::size_t machine = 1; machine != machines_.size(); ++machine) {
        const double up = speed_up(workload, machine);
        row.push_back(up == 0 ? "-" : fmt::format("{:.3f}", up));
      }
      table.add(row);
    }
    std::string out = table.text();
    for (const std::string& failure : review_.failures) {
      out += "no result: " + failure + "\n";
    }
    for (const std::string& note : review_.notes) {
      out += "note: " + note + "\n";
    }
    return out;
  }

  const ReviewOptions& options_;
  ReviewRunner runner_;
  std::vector<ReviewedMachine> machines_;
  std::vector<ReviewSubject> subjects_;
  ReviewPricing energy_;  // by the table's path
  Review review_;
  std::map<std::pair<std::string, std::size_t>, std::vector<double>> cycles_;  // by workload and machine: by sample
  std::map<std::pair<std::string, std::size_t>, std::string> folders_;         // likewise, of the first one
  std::map<std::pair<std::string, std::size_t>, ReviewWork> work_;             // likewise
  std::set<std::pair<std::string, std::size_t>> other_input_;                  // than the base's
  std::pair<std::string, std::size_t> worst_;                                  // workload and design; 0: none
};

}  // namespace

Review make_review(const ReviewOptions& options) {
  return Reviewer(options).make();
}

std::string review_page(const Review& review) {
  std::string names;
  for (const json::value& machine : review.data.at("machines").as_array()) {
    names += fmt::format("{}{}", names.empty() ? "" : " / ", machine.at("name").as_string().c_str());
  }
  return pages::data_page({"Heddle review: " + names,
                           json::serialize(review.data) + "\n",
                           {"energy.js", "causes.js", "closely.js", "review.js"}});
}

}  // namespace heddle::studies
