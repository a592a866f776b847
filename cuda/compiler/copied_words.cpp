#include "cuda/compiler/copied_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>
#include <vector>

namespace heddle::cuda {
namespace {

constexpr std::size_t kLongestLine = 1000;  // that regular expressions look at, whose stack grows with it

// A load or store; of others nothing is known here.
struct Access {
  bool stores = false;
  std::string value;    // what is loaded or stored: "%8", "3.0"
  std::string type;     // "i64", "float"
  std::string pointer;  // its type: "i64 addrspace(1)*", "ptr"
  std::string place;    // "%7", "@a"
  std::size_t alignment = 0;
  std::string debug;  // ", !dbg !7" or nothing
};

std::optional<Access> access_of(const std::string& line) {
  if (line.size() > kLongestLine) return std::nullopt;
  if (line.find(" = load ") == std::string::npos && !line.starts_with("  store ")) return std::nullopt;
  static const std::regex kAccess(R"(^  (?:(%[-\w.$]+) = load (i64|i32|float)|store (i64|i32|float) ([^ ,]+)), )"
                                  R"(((?:i64|i32|float)(?: addrspace\(\d+\))?\*|ptr(?: addrspace\(\d+\))?) )"
                                  R"(([%@][-\w.$]+), align (\d+)(, !dbg !\d+)?(?:, !.*)?\n$)");
  std::smatch match;
  if (!std::regex_match(line, match, kAccess)) return std::nullopt;
  const bool stores = match[3].matched;
  return Access{stores,
                stores ? match[4] : match[1],
                stores ? match[3] : match[2],
                match[5],
                match[6],
                std::stoul(match[7].str()),
                match[8]};
}

// What pointers are derived from: equal texts for pointers that differ by a constant.
class Bases {
 public:
  void read(const std::string& line) {
    if (line.size() > kLongestLine) return;
    if (line.find(" = bitcast ") == std::string::npos && line.find(" = getelementptr ") == std::string::npos) return;
    static const std::regex kCast(R"(^  (%[-\w.$]+) = bitcast .* ([%@][-\w.$]+) to .*\n$)");
    static const std::regex kElement(
        R"(^  (%[-\w.$]+) = getelementptr (?:inbounds )?(.*), (?:.*\*|ptr(?: addrspace\(\d+\))?) )"
        R"(([%@][-\w.$]+)((?:, i\d+ [-%\w.$]+)+)(?:, !.*)?\n$)");
    std::smatch match;
    if (std::regex_match(line, match, kCast)) {
      from_[match[1]] = of(match[2]);
    } else if (std::regex_match(line, match, kElement)) {
      // Of the indices the first may vary, which counts whole elements.
      const std::string indices = match[4];
      const std::size_t second = indices.find(',', 1);
      const std::string first = indices.substr(0, second);
      const bool others_vary = second != std::string::npos && indices.find('%', second) != std::string::npos;
      const bool first_varies = first.find('%') != std::string::npos;
      if (!others_vary) {
        from_[match[1]] = of(match[3]) + (first_varies ? "[" + match[2].str() + first + "]" : "");
      }
    }
  }
  [[nodiscard]] std::string of(const std::string& pointer) const {
    const auto found = from_.find(pointer);
    return found == from_.end() ? pointer : found->second;
  }

 private:
  std::map<std::string, std::string> from_;
};

// The names of values in a line, in order.
std::vector<std::string> names_in(std::string_view line) {
  std::vector<std::string> names;
  for (std::size_t at = line.find('%'); at != std::string_view::npos; at = line.find('%', at)) {
    std::size_t end = at + 1;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 ||
                                 std::string_view("-.$_").find(line[end]) != std::string_view::npos)) {
      ++end;
    }
    names.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return names;
}

constexpr std::string_view kOrder = "  uselistorder ";
constexpr std::size_t kWhole = 16, kHalf = 8, kWord = 4;

// The lines of a function.
class Function {
 public:
  Function(std::vector<std::string> lines, bool copies) : lines_(std::move(lines)) {
    if (!copies) return;
    for (const std::string& line : lines_) {
      bases_.read(line);
      accesses_.push_back(access_of(line));
    }
  }

  // `number` makes names their own.
  void change(unsigned& number) {
    find_copies();
    if (copied_.empty()) return;
    std::map<std::string, unsigned> numbers;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].starts_with(kOrder)) lines_[i].clear();
      const auto& access = accesses_[i];
      if (!access || access->type != "i64" || copied_.count(access->value) == 0) continue;
      if (!access->stores) numbers[access->value] = number;
      const auto of = numbers.find(access->value);
      if (of != numbers.end()) lines_[i] = in_words(*access, of->second, number++);
    }
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const std::string& line : lines_) out += line;
    return out;
  }

 private:
  // An access of 8 bytes has a neighbour of 4 within the same 16 bytes, as far as alignments tell.
  [[nodiscard]] bool has_a_word_beside(const Access& access) const {
    const std::string base = bases_.of(access.place);
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const std::optional<Access>& other) {
      return other && other->type != "i64" && other->stores == access.stores &&
             (access.alignment >= kWhole ? other->alignment == kHalf
                                         : access.alignment == kHalf && other->alignment >= kWhole) &&
             bases_.of(other->place) == base;
    });
  }

  // Values that are loaded to be stored alone, beside a word.
  void find_copies() {
    std::map<std::string, bool> beside;  // of those that are loaded
    for (const auto& access : accesses_) {
      if (access && access->type == "i64" && access->alignment >= kHalf) {
        if (!access->stores) beside.emplace(access->value, has_a_word_beside(*access));
        const auto loaded = beside.find(access->value);
        if (access->stores && loaded != beside.end()) loaded->second |= has_a_word_beside(*access);
      }
    }
    for (const auto& [value, has] : beside) {
      if (has) copied_.insert(value);
    }
    for (std::size_t i = 0; i < lines_.size() && !copied_.empty(); ++i) {
      if (lines_[i].starts_with(kOrder)) continue;
      const auto& access = accesses_[i];
      const bool is_of_it = access && access->type == "i64" && access->alignment >= kHalf;
      for (const std::string& name : names_in(lines_[i])) {
        if (!is_of_it || name != access->value) copied_.erase(name);  // another use
      }
    }
  }

  static std::string in_words(const Access& access, unsigned value, unsigned number) {
    const bool opaque = access.pointer.starts_with("ptr");
    const std::string pointer = opaque ? access.pointer : "i32" + access.pointer.substr(access.type.size());
    const std::string at = fmt::format("%heddle.words.{}", number);
    std::string low = access.place, out;
    const auto add = [&](const std::string& text) { out += "  " + text + access.debug + "\n"; };
    if (!opaque) {
      add(fmt::format("{}.low = bitcast {} {} to {}", at, access.pointer, low, pointer));
      low = at + ".low";
    }
    add(fmt::format("{}.high = getelementptr inbounds i32, {} {}, i64 1", at, pointer, low));
    const auto word = [&](std::string_view name, const std::string& place, std::size_t alignment) {
      const std::string of = fmt::format("%heddle.word.{}.{}", value, name);
      add(access.stores ? fmt::format("store i32 {}, {} {}, align {}", of, pointer, place, alignment)
                        : fmt::format("{} = load i32, {} {}, align {}", of, pointer, place, alignment));
    };
    word("a", low, access.alignment);
    word("b", at + ".high", kWord);
    // The value has no use any more, but numbers of values have no gaps.
    if (!access.stores) add(fmt::format("{} = zext i32 %heddle.word.{}.a to i64", access.value, value));
    return out;
  }

  std::vector<std::string> lines_;
  std::vector<std::optional<Access>> accesses_;  // of each line
  Bases bases_;
  std::set<std::string> copied_;
};

}  // namespace

std::string with_copied_words(std::string_view module) {
  std::string out;
  out.reserve(module.size());
  unsigned number = 0;
  bool copies = false;  // of 8 bytes, in the function at hand, it may be
  std::optional<std::vector<std::string>> body;
  for (std::size_t begin = 0; begin < module.size();) {
    const std::size_t end = std::min(module.find('\n', begin), module.size() - 1) + 1;
    const std::string_view line = module.substr(begin, end - begin);
    begin = end;
    if (line.starts_with("define ")) body.emplace();
    if (!body) {
      if (number == 0 || !line.starts_with(kOrder.substr(2))) out += line;
      continue;
    }
    body->emplace_back(line);
    copies = copies || line.find(" = load i64, ") != std::string_view::npos;
    if (line.starts_with('}')) {
      Function function(std::move(*body), copies);
      function.change(number);
      out += function.text();
      body.reset();
      copies = false;
    }
  }
  if (body) {  // a text that breaks off
    for (const std::string& line : *body) out += line;
  }
  return out;
}

}  // namespace heddle::cuda
