#include "studies/review/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/process/children.hpp"
#include "os/process/converter.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/cost/cost.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;

std::string bare_text(const ParameterReference& parameter) {
  const std::string text = parameter.value_text();
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Modules that a parameter shapes, by the last part of their paths without its number: those of its section where the
// drawings have some, or the one that its policy is part of. A policy's own section is the policy's.
std::vector<std::string> modules_of(const std::string& section, const std::string& path,
                                    const std::set<std::string>& drawn) {
  static const std::map<std::string, std::vector<std::string>> by_start = {
      {"core.fetch_latency", {"fetch"}},
      {"core.decode_latency", {"decode"}},
      {"core.register_read_latency", {"register_read"}},
      {"core.execute_stages", {"execute"}},
      {"core.integer_", {"execute"}},
      {"core.float_", {"execute"}},
      {"core.double_", {"execute"}},
      {"core.half_", {"execute"}},
      {"core.tensor_", {"execute"}},
      {"core.complex_", {"execute"}},
      {"core.pending_accesses", {"memory"}},
      {"core.stores", {"memory"}},
      {"core.thread_misses", {"memory"}},
      {"lsu.", {"memory"}},
      {"private.", {"memory"}},
      {"bulk_copy.", {"bulk_copies"}},
      {"constant_cache.l0_", {"l0c"}},
      {"jedec.", {"dram"}},
      {"warp_aware.", {"dram"}},
  };
  for (const auto& [start, modules] : by_start) {
    if (path.starts_with(start)) {
      return modules;
    }
  }
  static const std::map<std::string, std::vector<std::string>> by_policy = {
      {"core.scheduler", {"fetch"}},
      {"core.load_limiter", {"fetch"}},
      {"core.former", {"decode", "former"}},
      {"core.issue", {"decode"}},
      {"core.scalar", {"decode"}},
      {"core.coalescer", {"memory"}},
      {"core.divergence", {"core"}},
      {"core.warp_size", {"core", "former"}},
      {"core.simd_width", {"core", "execute"}},
  };
  if (const auto found = by_policy.find(path); found != by_policy.end()) {
    return found->second;
  }
  if (drawn.count(section) != 0) {
    return {section};
  }
  hw::Machine machine;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    if (!parameter.limits.sections) {
      continue;
    }
    for (const std::string& choice : parameter.limits.choices()) {
      const std::vector<std::string> own = parameter.limits.sections(choice);
      const auto found = by_policy.find(parameter.path());
      if (found != by_policy.end() && std::find(own.begin(), own.end(), section) != own.end()) {
        return found->second;
      }
    }
  }
  return {"core"};
}

// "l2" of "gpu.l2_0", "dram" of "gpu.dram0": what a module is called without its number. A place of the drawing where
// the model ends ("gpu.memory_0") is no module of a kind.
std::string kind_of(const std::string& path) {
  if (path.starts_with("gpu.memory_")) {
    return {};
  }
  std::string name = path.substr(path.rfind('.') + 1);
  name.erase(name.find_last_not_of("0123456789") + 1);
  if (name.ends_with('_')) {
    name.pop_back();
  }
  return name;
}

// Paths of the modules that a drawing has.
std::set<std::string> drawn_in(const std::string& dot) {
  std::set<std::string> paths;
  constexpr std::string_view kCluster = "cluster_";
  for (std::size_t open = dot.find('"'); open != std::string::npos; open = dot.find('"', open + 1)) {
    const std::size_t close = dot.find('"', open + 1);
    if (close == std::string::npos) {
      break;
    }
    std::string_view name(dot.data() + open + 1, close - open - 1);
    const std::string_view rest = std::string_view(dot).substr(close + 1);
    if (name.starts_with(kCluster)) {
      name.remove_prefix(kCluster.size());
    }
    if (name.starts_with("gpu") && (rest.starts_with(" [label") || rest.starts_with(" {"))) {
      paths.emplace(name);
    }
  }
  return paths;
}

// Colours the nodes and frames that are marked.
std::string marked_dot(const std::string& dot, const std::set<std::string>& marked) {
  std::string out;
  std::size_t begin = 0;
  bool in_frame = false;  // one has begun
  bool marked_frame = false;
  while (begin < dot.size()) {
    const std::size_t end = std::min(dot.find('\n', begin), dot.size());
    std::string line = dot.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t open = line.find("\"gpu");
    const std::size_t cluster = line.find("\"cluster_gpu");
    if (cluster != std::string::npos) {
      in_frame = true;
      marked_frame = marked.count(line.substr(cluster + 9, line.find('"', cluster + 1) - cluster - 9)) != 0;
    } else if (in_frame && line.find("label=") != std::string::npos) {  // frames within would have what this one has
      line +=
          marked_frame ? " penwidth=2.5; color=\"#c2410c\"; fontcolor=\"#c2410c\";" : " penwidth=1; fontcolor=black;";
      in_frame = false;
    } else if (open != std::string::npos && line.find(" -> ") == std::string::npos && line.ends_with("];") &&
               marked.count(line.substr(open + 1, line.find('"', open + 1) - open - 1)) != 0) {
      line.insert(line.size() - 2, " fillcolor=\"#fde3cf\" color=\"#c2410c\" penwidth=2.5");
    }
    out += line + "\n";
  }
  return out;
}

// Share of the cycles of all banks of all channels in which they are busy.
double bank_use(const json::object& stats) {
  double busy = 0;
  double channels = 0;
  for (const auto& module : stats.at("modules").as_object()) {
    if (const json::value* const cycles = module.value().as_object().if_contains("bank_busy_cycles")) {
      busy += cycles->to_number<double>();
      ++channels;
    }
  }
  const double banks = stats.at("machine").at("parameters").at("dram").at("banks").to_number<double>();
  const double all = channels * banks * summary_figure(stats, "cycles");
  return all == 0 ? 0 : busy / all;
}

}  // namespace

double summary_figure(const json::object& stats, const char* name) {
  return stats.at("summary").at(name).to_number<double>();
}

json::object review_figures(const json::object& stats) {
  json::object out{{"cycles", stats.at("summary").at("cycles")},
                   {"ipc", summary_figure(stats, "ipc")},
                   {"lanes", summary_figure(stats, "lanes_per_warp_instruction")},
                   {"idle_share", summary_figure(stats, "idle_share")},
                   {"l1d_hit_rate", summary_figure(stats, "l1d_hit_rate")},
                   {"dram_row_hit_rate", summary_figure(stats, "dram_row_hit_rate")},
                   {"bus_use", summary_figure(stats, "dram_bus_utilisation")},
                   {"bank_use", bank_use(stats)},
                   {"idle_cycles_by_cause", stats.at("summary").at("idle_cycles_by_cause")},
                   {"verdict", stats.at("verdict").at("result")}};
  if (const json::value* const energy = stats.if_contains("energy")) {
    json::object kinds;
    for (const auto& kind : energy->at("kinds").as_object()) {
      kinds[kind.key()] = kind.value().at("pj");
    }
    const json::value* const celsius = energy->as_object().if_contains("celsius");
    out["energy"] = json::object{{"table", energy->at("table")},
                                 {"celsius", celsius == nullptr ? json::value(nullptr) : *celsius},
                                 {"pj", energy->at("pj")},
                                 {"mean_mw", energy->at("average_mw")},
                                 {"peak_mw", energy->at("power").at("peak_mw")},
                                 {"delay_product", energy->at("delay_product")},
                                 {"kinds", std::move(kinds)}};
  }
  return out;
}

bool ReviewedMachine::set_in_vain(const std::string& key) const {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.starts_with(key + " = "); });
}

json::array review_differences(const std::vector<ReviewedMachine>& machines) {
  std::vector<hw::Machine> copies;  // describe() hands out pointers to change
  copies.reserve(machines.size());
  std::vector<std::vector<ParameterReference>> parameters;
  std::vector<std::map<std::string, std::string>> comments;
  for (const ReviewedMachine& one : machines) {
    comments.push_back(tb::value_comments(one.config, one.settings));
    parameters.push_back(parameters_of(copies.emplace_back(one.machine)));
  }
  json::array out;
  for (std::size_t at = 0; at != parameters.front().size(); ++at) {
    json::array values;
    json::array about;
    json::array said;
    std::set<std::string> distinct;
    const ParameterReference& first = parameters.front()[at];
    for (const std::vector<ParameterReference>& one : parameters) {
      const std::string value = bare_text(one[at]);
      distinct.insert(value);
      values.emplace_back(value);
      const auto comment = comments[said.size()].find(first.path());
      said.emplace_back(comment == comments[said.size()].end() ? "" : comment->second);
      about.emplace_back(first.limits.about && !first.limits.list ? first.limits.about(value) : "");
    }
    if (distinct.size() > 1) {
      // What some machines set, and what none of them that set it looks at.
      std::size_t in_vain = 0;
      std::size_t others = 0;
      for (std::size_t i = 0; i != machines.size(); ++i) {
        const bool of_it = machines[i].set_in_vain(first.path());
        in_vain += of_it ? 1 : 0;
        others += !of_it && values[i] != values[0] ? 1 : 0;
      }
      out.push_back(json::object{{"key", first.path()},
                                 {"in_vain", in_vain != 0 && others == 0},
                                 {"section", first.section},
                                 {"unit", first.unit},
                                 {"meaning", first.meaning},
                                 {"values", std::move(values)},
                                 {"about", std::move(about)},
                                 {"said", std::move(said)}});
    }
  }
  return out;
}

json::array review_storage(const std::vector<ReviewedMachine>& machines) {
  json::array out;
  for (const ReviewedMachine& one : machines) {
    json::object cost = json::parse(tb::cost_json(tb::storage_cost(one.machine))).as_object();
    cost["machine"] = one.name;
    out.push_back(std::move(cost));
  }
  return out;
}

json::value review_diagrams(const std::vector<ReviewedMachine>& machines, const json::array& differences,
                            const ReviewOptions& options) {
  const std::string folder = options.folder + "/diagrams";
  os::make_folder(folder);
  std::vector<os::ChildCommand> commands;
  for (std::size_t i = 0; i != machines.size(); ++i) {
    const std::string stem = fmt::format("{}/{}", folder, i);
    os::ChildCommand& command = commands.emplace_back();
    command.words = {"/proc/self/exe", "diagram", tb::find_config(machines[i].config), "--dot", stem + ".dot"};
    for (const std::string& setting : machines[i].settings) {
      command.words.insert(command.words.end(), {"--set", setting});
    }
    command.log = stem + ".log";
    os::write_file(command.log, "");
  }
  const std::vector<os::ChildResult> results = os::run_children(commands, options.jobs, {}, {}, options.stop);
  std::vector<std::string> dots;
  std::set<std::string> common;
  std::set<std::string> kinds;
  for (std::size_t i = 0; i != machines.size(); ++i) {
    if (results[i].exit_code != 0) {
      throw InputError({machines[i].config}, "cannot be drawn: " + results[i].output);
    }
    dots.push_back(text_of_file(fmt::format("{}/{}.dot", folder, i)));
    const std::set<std::string> own = drawn_in(dots.back());
    for (const std::string& path : own) {
      kinds.insert(kind_of(path));
    }
    if (i == 0) {
      common = own;
    }
    std::erase_if(common, [&](const std::string& path) { return own.count(path) == 0; });
  }
  std::set<std::string> shaped;
  for (const json::value& one : differences) {
    if (one.at("in_vain").as_bool()) {
      continue;
    }
    const std::vector<std::string> of_it =
        modules_of(one.at("section").as_string().c_str(), one.at("key").as_string().c_str(), kinds);
    shaped.insert(of_it.begin(), of_it.end());
  }
  json::array out;
  for (std::size_t i = 0; i != machines.size(); ++i) {
    std::set<std::string> marked;
    json::array names;
    for (const std::string& path : drawn_in(dots[i])) {
      const bool only = common.count(path) == 0;
      if (only || shaped.count(kind_of(path)) != 0) {
        marked.insert(path);
        names.push_back(json::object{{"module", path}, {"why", only ? "not in every machine" : "other parameters"}});
      }
    }
    const std::string file = fmt::format("{}/{}.svg", folder, i);
    try {
      os::Converter converter(file, os::svg_converter());
      converter.write(marked_dot(dots[i], marked));
      converter.commit();
    } catch (const InputError&) {
      return nullptr;  // Graphviz is not there
    }
    const std::string svg = text_of_file(file);
    out.push_back(json::object{{"machine", machines[i].name},
                               {"svg", svg.substr(std::min(svg.find("<svg"), svg.size()))},
                               {"marked", std::move(names)}});
  }
  return out;
}

}  // namespace heddle::studies
