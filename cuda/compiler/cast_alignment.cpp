#include "cuda/compiler/cast_alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <regex>
#include <vector>

namespace heddle::cuda {
namespace {

constexpr unsigned kWidestAccess = 16;  // bytes of one access

unsigned number_in(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Of a type of one value: "i32", "double", "<2 x half>"; 0: of another one, as pointers.
unsigned natural_alignment(std::string_view type) {
  if (type == "half") return 2;
  if (type == "float") return 4;
  if (type == "double") return 8;
  if (type.starts_with('i')) {
    const unsigned bits = number_in(type.substr(1));
    return bits >= 8 && bits <= 64 ? bits / 8 : 0;
  }
  if (type.starts_with('<')) {
    const std::size_t by = type.find(" x ");
    if (by == std::string_view::npos) return 0;
    const unsigned bytes = number_in(type.substr(1)) * natural_alignment(type.substr(by + 3, type.size() - by - 4));
    return bytes != 0 && (bytes & (bytes - 1)) == 0 ? std::min(bytes, kWidestAccess) : 0;
  }
  return 0;
}

// Of CUDA's vectors (CUDA C++ Programming Guide, "Built-in Vector Types"), and of pairs of halves; 0: of another
// structure.
unsigned vector_alignment(std::string_view name) {
  static const std::map<std::string_view, unsigned> kElements = {
      {"char", 1}, {"uchar", 1}, {"short", 2},    {"ushort", 2},    {"int", 4},   {"uint", 4},
      {"long", 8}, {"ulong", 8}, {"longlong", 8}, {"ulonglong", 8}, {"float", 4}, {"double", 8}};
  if (name == "__half2" || name == "__nv_bfloat162") return 4;
  const char last = name.empty() ? ' ' : name.back();
  if (last != '2' && last != '4') return 0;
  const auto element = kElements.find(name.substr(0, name.size() - 1));
  return element == kElements.end() ? 0 : std::min(element->second * static_cast<unsigned>(last - '0'), kWidestAccess);
}

// What a name stands for in a function, as far as it matters here.
struct Pointer {
  std::string variable;  // "%4" of an alloca, "@tile"; empty: it has come from elsewhere
  std::string cast_to;   // of a cast from another type: the type that it points to
};

// "%struct.float4" of "%struct.float4*", without its prefix; empty: another type.
std::string structure_in(const std::string& type) {
  static const std::regex kStructure(R"rx(^%"?(?:struct|union|class)\.([^"]*?)(?:\.\d+)?"?$)rx");
  std::smatch match;
  return std::regex_match(type, match, kStructure) ? match[1].str() : std::string();
}

class Module {
 public:
  explicit Module(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      lines_.emplace_back(text.substr(begin, end - begin));
      begin = end;
    }
  }

  std::string aligned() {
    each_line([this](const std::string& line) { learn(line); });
    each_line([this](std::string& line) { align_access(line); });
    if (wanted_.empty()) return joined();
    std::string function;
    for (std::string& line : lines_) {
      if (line.starts_with("define ")) function = line;
      align_variable(line, function);
    }
    return joined();
  }

 private:
  template <class Visit>
  void each_line(Visit visit) {
    for (std::string& line : lines_) {
      if (line.starts_with("define ")) {
        function_ = line;
        pointers_.clear();
      }
      read(line);
      visit(line);
    }
  }

  [[nodiscard]] std::string joined() const {
    std::string out;
    for (const std::string& line : lines_) out += line;
    return out;
  }

  void read(const std::string& line) {
    static const std::regex kAlloca(R"(^\s+(%[-\w.$]+) = alloca )");
    static const std::regex kCast(
        R"(^\s+(%[-\w.$]+) = (?:bitcast|addrspacecast) (.*?)((?: addrspace\(\d+\))?\*) (%[-\w.$]+|.*@.*) to )"
        R"((.*?)(?: addrspace\(\d+\))?\*\s*(?:,.*)?\n$)");
    static const std::regex kElement(
        R"(^\s+(%[-\w.$]+) = getelementptr (?:inbounds )?.*?, .*?\* (%[-\w.$]+|[a-z]+ \(.*@.*?\)|@[^,]+), )");
    if (line.find(" = alloca ") == std::string::npos && line.find("cast ") == std::string::npos &&
        line.find(" getelementptr ") == std::string::npos) {
      return;
    }
    std::smatch match;
    if (std::regex_search(line, match, kAlloca)) {
      pointers_[match[1]] = {match[1], {}};
    } else if (std::regex_match(line, match, kCast)) {
      pointers_[match[1]] = {variable_of(match[4]), match[2] == match[5] ? cast_of(match[4]) : match[5].str()};
      from_[match[1]] = match[4];
    } else if (std::regex_search(line, match, kElement)) {
      // One index goes from element to element of the type that the pointer has been cast to, several into one.
      static const std::regex kOneIndex(R"(^, i\d+ [^,]+(?:, !.*)?\n$)");
      const std::string indices = match.suffix();
      const bool one = std::regex_match(", " + indices, kOneIndex);
      pointers_[match[1]] = {variable_of(match[2]), one ? cast_of(match[2]) : std::string()};
    }
  }

  // "@tile" of "addrspacecast ([8 x float] addrspace(3)* @tile to [8 x float]*)"
  [[nodiscard]] std::string variable_of(const std::string& operand) const {
    if (const std::size_t at = operand.find('@'); at != std::string::npos) {
      static const std::regex kName(R"(@("[^"]*"|[-\w.$]+))");
      std::smatch match;
      return std::regex_search(operand, match, kName) ? match[0].str() : std::string();
    }
    const auto found = pointers_.find(operand);
    return found == pointers_.end() ? std::string() : found->second.variable;
  }
  [[nodiscard]] std::string cast_of(const std::string& operand) const {
    const auto found = pointers_.find(operand);
    return found == pointers_.end() ? std::string() : found->second.cast_to;
  }

  // The pointers of a copy: "i8* align 4 %7". visit(begin and end of the number, value)
  template <class Visit>
  static void each_side(const std::string& line, Visit visit) {
    static const std::regex kSide(R"(i8\*(?: noundef| nonnull)* align (\d+) (%[-\w.$]+))");
    if (line.find("@llvm.memcpy.") == std::string::npos) return;
    for (std::sregex_iterator at(line.begin(), line.end(), kSide), end; at != end; ++at) {
      visit(static_cast<std::size_t>(at->position(1)), at->str(1), at->str(2));
    }
  }

  // A structure that a copy reads or writes by a pointer from elsewhere has its own alignment there.
  void learn(const std::string& line) {
    each_side(line, [this](std::size_t, const std::string& alignment, const std::string& bytes) {
      const std::string structure = structure_behind(bytes);
      if (structure.empty() || !pointer(bytes).variable.empty()) return;
      const unsigned value = number_in(alignment);
      const auto [known, first] = learnt_.try_emplace(structure, value);
      known->second = first ? value : std::min(known->second, value);
    });
  }

  [[nodiscard]] Pointer pointer(const std::string& value) const {
    const auto found = pointers_.find(value);
    return found == pointers_.end() ? Pointer() : found->second;
  }

  // The structure whose bytes "%9 = bitcast %struct.T* %8 to i8*" are; empty: of none.
  [[nodiscard]] std::string structure_behind(const std::string& bytes) const {
    const auto from = from_.find(bytes);
    if (from == from_.end()) return {};
    return structure_in(pointer(from->second).cast_to);
  }

  [[nodiscard]] unsigned alignment_of(const std::string& structure) const {
    if (const unsigned vector = vector_alignment(structure); vector != 0) return vector;
    const auto known = learnt_.find(structure);
    return known == learnt_.end() ? 0 : std::min(known->second, kWidestAccess);
  }

  void want(const std::string& variable, unsigned alignment) {
    unsigned& wanted = wanted_[variable.starts_with('@') ? variable : function_ + variable];
    wanted = std::max(wanted, alignment);
  }

  void align_access(std::string& line) {
    std::vector<std::pair<std::size_t, std::pair<std::size_t, unsigned>>> changes;  // place, length, alignment
    each_side(line, [&](std::size_t place, const std::string& alignment, const std::string& bytes) {
      const std::string variable = pointer(bytes).variable;
      const unsigned natural = variable.empty() ? 0 : alignment_of(structure_behind(bytes));
      if (natural <= number_in(alignment)) return;
      changes.push_back({place, {alignment.size(), natural}});
      want(variable, natural);
    });
    static const std::regex kAccess(
        R"(^\s+(?:%[-\w.$]+ = load (?!volatile )(.*?), .*?\*|store (?!volatile ).*?, (.*?)\*) (%[-\w.$]+), )"
        R"(align (\d+))");
    std::smatch match;
    if ((line.find(" load ") != std::string::npos || line.find(" store ") != std::string::npos) &&
        std::regex_search(line, match, kAccess)) {
      const Pointer to = pointer(match[3]);
      const unsigned natural = to.variable.empty() ? 0 : natural_alignment(to.cast_to);
      if (natural > number_in(match[4].str())) {
        changes.push_back({static_cast<std::size_t>(match.position(4)), {match.length(4), natural}});
        want(to.variable, natural);
      }
    }
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      line.replace(change->first, change->second.first, std::to_string(change->second.second));
    }
  }

  // Where a variable is declared: "@tile = internal addrspace(3) global ..., align 4", "%4 = alloca ..., align 4".
  void align_variable(std::string& line, const std::string& function) {
    static const std::regex kDeclared(R"(^(?:(@(?:"[^"]*"|[-\w.$]+)) = |\s+(%[-\w.$]+) = alloca ).*, align (\d+))");
    std::smatch match;
    if ((!line.starts_with('@') && line.find(" = alloca ") == std::string::npos) ||
        !std::regex_search(line, match, kDeclared)) {
      return;
    }
    const auto wanted = wanted_.find(match[1].matched ? match[1].str() : function + match[2].str());
    if (wanted == wanted_.end() || wanted->second <= number_in(match[3].str())) return;
    line.replace(static_cast<std::size_t>(match.position(3)), static_cast<std::size_t>(match.length(3)),
                 std::to_string(wanted->second));
  }

  std::vector<std::string> lines_;
  std::string function_;
  std::map<std::string, Pointer> pointers_;  // of the function at hand
  std::map<std::string, std::string> from_;  // of casts: what is cast
  std::map<std::string, unsigned> learnt_;   // alignments of structures
  std::map<std::string, unsigned> wanted_;   // of variables; local ones behind their function's first line
};

}  // namespace

std::string with_cast_alignments(std::string_view module) {
  return Module(module).aligned();
}

bool has_narrow_accesses(std::string_view module) {
  static const std::regex kCopy(R"(align ([1248]) .*align ([1-9]\d*) .*i(?:32|64) (8|16|24|32|48|64|128), i1 false)");
  static const std::regex kAccess(
      R"(^\s+(?:%[-\w.$]+ = load|store) (i16|i32|i64|half|float|double|<[^>]*>).*, align (\d+))");
  for (std::size_t begin = 0; begin < module.size();) {
    const std::size_t end = std::min(module.find('\n', begin), module.size() - 1) + 1;
    const std::string line(module.substr(begin, end - begin));
    begin = end;
    std::smatch match;
    if (line.find("@llvm.memcpy.") != std::string::npos) {
      if (std::regex_search(line, match, kCopy)) return true;
    } else if ((line.find(" load ") != std::string::npos || line.starts_with("  store ")) &&
               std::regex_search(line, match, kAccess) &&
               number_in(match[2].str()) < natural_alignment(match[1].str())) {
      return true;
    }
  }
  return false;
}

}  // namespace heddle::cuda
