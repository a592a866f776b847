#include "batch_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace heddle::test {

namespace {

namespace fs = std::filesystem;

// What a line of several objects declares behind the first one: "b" and "c" of "int a = 1, b = f(2, 3), c;". `rest` is
// what follows the first one's name.
std::vector<std::string> further_objects(const std::string& rest) {
  std::vector<std::string> names;
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at != rest.size() && !(depth == 0 && !quoted && rest[at] == ';'); ++at) {
    quoted = quoted != (rest[at] == '"' && rest[at - 1] != '\\');
    if (quoted) {
      continue;
    }
    depth += std::string_view("([{").find(rest[at]) != std::string_view::npos ? 1 : 0;
    depth -= std::string_view(")]}").find(rest[at]) != std::string_view::npos ? 1 : 0;
    if (depth == 0 && rest[at] == ',') {
      static const std::regex name(R"(^, ([a-zA-Z_]\w*)(?= ?[=;,[{]))");
      std::smatch match;
      if (const std::string from = rest.substr(at); std::regex_search(from, match, name)) {
        names.push_back(match[1]);
      }
    }
  }
  return names;
}

// Names as they clash: functions with the types of their first line's parameters.
std::vector<std::string> declared_in(const std::string& line) {
  static const std::regex entry(R"(^const Register\w*<[^>]*> (\w+))");
  static const std::regex function(R"(^(?:\[\[[^\]]*\]\] )?[\w:<>,*& ]*[\w>*&] ?[ *&](\w+)\(([^)]*))");
  static const std::regex object(R"(^[\w:<>,*& ]*[\w>*&] ?[ *&](\w+)(?:\[\w*\])? ?[={])");
  static const std::regex type(R"(^(?:struct|class|enum class|enum) (\w+)[^;]*$)");
  static const std::regex parameter_name(R"( ?\b\w+(?= ?(?:,|=|$)))");
  if (line.empty() || std::string_view(" /#}").find(line.front()) != std::string_view::npos ||
      line.starts_with("TEST") || line.starts_with("INSTANTIATE") || line.starts_with("using ") ||
      line.starts_with("namespace ") || line.starts_with("template ") || line.starts_with("static_assert")) {
    return {};
  }
  std::smatch match;
  if (std::regex_search(line, match, entry) || std::regex_search(line, match, type)) {
    return {match[1]};
  }
  if (std::regex_search(line, match, function)) {
    return {fmt::format("{}({})", match[1].str(), std::regex_replace(match[2].str(), parameter_name, ""))};
  }
  if (std::regex_search(line, match, object)) {
    std::vector<std::string> names =
        further_objects(line.substr(static_cast<std::size_t>(match.position(1) + match.length(1))));
    names.insert(names.begin(), match[1]);
    return names;
  }
  return {};
}

// How a raw string that a line begins and does not end will end; empty when there is none.
std::string open_raw_string(const std::string& line) {
  static const std::regex beginning(R"re(R"(\w*)\()re");
  std::smatch match;
  for (std::string rest = line; std::regex_search(rest, match, beginning);) {
    const std::string end = ")" + match[1].str() + "\"";
    rest = match.suffix();
    const std::size_t at = rest.find(end);
    if (at == std::string::npos) {
      return end;
    }
    rest.erase(0, at + end.size());
  }
  return "";
}

// The names of a file, behind the namespace that they stand in. What stands in raw strings is no code.
std::set<std::string> names_of(const fs::path& path) {
  std::set<std::string> names;
  std::ifstream in(path);
  std::string outer;
  std::string inner;  // a named namespace within the unnamed one
  bool inside = false;
  std::string raw_ends;  // not empty: inside a raw string
  for (std::string line; std::getline(in, line);) {
    if (!raw_ends.empty()) {
      const std::size_t end = line.find(raw_ends);
      raw_ends = end == std::string::npos ? raw_ends : open_raw_string(line.substr(end));
      continue;
    }
    raw_ends = open_raw_string(line);
    if (line == "namespace {") {
      inside = true;
    } else if (line == "}  // namespace") {
      inside = false;
    } else if (line.starts_with("namespace heddle") && line.ends_with("{")) {  // not one in a text of a test
      outer = line;
    } else if (inside && line.starts_with("namespace ") && line.ends_with(" {")) {
      inner = line.substr(sizeof "namespace " - 1, line.size() - sizeof "namespace  {" + 1) + "::";
    } else if (!inner.empty() && line.starts_with("}  // namespace ")) {
      inner.clear();
    } else if (inside) {
      for (const std::string& name : declared_in(line)) {
        names.insert(outer + inner + name);
      }
    }
  }
  return names;
}

// Files with options or definitions of their own are in no batch: of the layers, the files of the lanes' semantics.
bool is_alone(const fs::path& path) {
  return path.parent_path().filename() == "isa" && path.filename().string().starts_with("semantics");
}

}  // namespace

std::vector<std::string> batch_clashes(const fs::path& root, const std::string& folder, bool deep) {
  std::map<std::string, std::vector<std::string>> files;  // by name
  std::vector<fs::path> sources;
  for (const fs::directory_entry& one : fs::recursive_directory_iterator(root / folder)) {
    if (one.path().extension() == ".cpp" && !is_alone(one.path()) &&
        (deep || one.path().parent_path() == root / folder)) {
      sources.push_back(one.path());
    }
  }
  std::sort(sources.begin(), sources.end());
  for (const fs::path& source : sources) {
    for (const std::string& name : names_of(source)) {
      files[name].push_back(source.lexically_relative(root / folder).generic_string());
    }
  }
  std::vector<std::string> clashes;
  for (const auto& [name, in] : files) {
    if (in.size() > 1) {
      clashes.push_back(fmt::format("{}: {} in {}", folder, name.substr(name.find('{') + 1), fmt::join(in, " and ")));
    }
  }
  return clashes;
}

}  // namespace heddle::test
