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

// Modules that a parameter shapes, by the last part of their paths: those of its section, or the one that its policy is
// part of. A policy's own section is the policy's.
std::vector<std::string> modules_of(const std::string& section, const std::string& path) {
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
  static const std::set<std::string> modules = {"gpu",        "core",      "icache", "l1d",  "texture",
                                                "scratchpad", "registers", "noc",    "dram", "l2"};
  if (modules.count(section) != 0) {
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

std::string without_number(std::string name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
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

}  // namespace

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
      out.push_back(json::object{{"key", first.path()},
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
  for (std::size_t i = 0; i != machines.size(); ++i) {
    if (results[i].exit_code != 0) {
      throw InputError({machines[i].config}, "cannot be drawn: " + results[i].output);
    }
    dots.push_back(text_of_file(fmt::format("{}/{}.dot", folder, i)));
    const std::set<std::string> own = drawn_in(dots.back());
    if (i == 0) {
      common = own;
    }
    std::erase_if(common, [&](const std::string& path) { return own.count(path) == 0; });
  }
  std::set<std::string> shaped;
  for (const json::value& one : differences) {
    const std::vector<std::string> of_it =
        modules_of(one.at("section").as_string().c_str(), one.at("key").as_string().c_str());
    shaped.insert(of_it.begin(), of_it.end());
  }
  json::array out;
  for (std::size_t i = 0; i != machines.size(); ++i) {
    std::set<std::string> marked;
    json::array names;
    for (const std::string& path : drawn_in(dots[i])) {
      const std::string last = path.substr(path.rfind('.') + 1);
      const bool only = common.count(path) == 0;
      if (only || shaped.count(without_number(last)) != 0) {
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
