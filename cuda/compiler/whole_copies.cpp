#include "cuda/compiler/whole_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <vector>

namespace heddle::cuda {
namespace {

constexpr std::uint64_t kWidest = 16;    // bytes of one access
constexpr std::uint64_t kLongest = 512;  // bytes of a copy; longer ones are loops
constexpr std::uint64_t kAtATime = 128;  // bytes in registers, and of a copy whose places may overlap
constexpr std::uint64_t kThreeWords = 12;

std::optional<std::uint64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

// The words of a call's argument; what stands in parentheses belongs to the word before.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0, depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ' ' && depth == 0)) {
      if (i != begin) words.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return words;
}

// The arguments between a call's parentheses, and what stands behind the parentheses.
struct Call {
  std::vector<std::string_view> arguments;
  std::string_view rest;
};

std::optional<Call> call_of(std::string_view line, std::size_t parenthesis) {
  Call call;
  std::size_t begin = parenthesis + 1, depth = 0;
  for (std::size_t i = parenthesis; i < line.size(); ++i) {
    if (line[i] == '(' || line[i] == '[' || line[i] == '{' || line[i] == '<') ++depth;
    if (line[i] == ')' || line[i] == ']' || line[i] == '}' || line[i] == '>') --depth;
    if (depth == 0 || (line[i] == ',' && depth == 1)) {
      call.arguments.push_back(line.substr(begin, i - begin));
      begin = i + 1;
    }
    if (depth == 0) {
      call.rest = line.substr(i + 1);
      return call;
    }
  }
  return std::nullopt;
}

// A pointer that a call gets: "i8* noundef align 16 dereferenceable(16) %5", "ptr addrspace(3) align 16 @tile".
struct Place {
  bool opaque = false;
  std::string space;  // " addrspace(3)" or nothing
  std::uint64_t alignment = 1;
  std::string value;

  [[nodiscard]] std::string pointer_to(std::string_view type) const {
    return opaque ? "ptr" + space : std::string(type) + space + "*";
  }
};

std::optional<Place> pointer_in(std::string_view argument) {
  static const std::regex kAttribute(
      "noundef|nonnull|noalias|nocapture|readonly|writeonly|readnone|immarg|returned|"
      "(dereferenceable|dereferenceable_or_null|captures|initializes)\\(.*\\)");
  const std::vector<std::string_view> words = words_of(argument);
  if (words.empty()) return std::nullopt;
  Place place;
  std::size_t next = 1;
  place.opaque = words[0] == "ptr";
  if (!place.opaque && words[0] != "i8*" && words[0] != "i8") return std::nullopt;
  if (next < words.size() && words[next].starts_with("addrspace(")) {
    std::string_view space = words[next++];
    if (space.ends_with('*')) space.remove_suffix(1);
    place.space = " " + std::string(space);
  } else if (words[0] == "i8") {
    return std::nullopt;
  }
  for (; next < words.size(); ++next) {
    if (words[next] == "align" && next + 1 < words.size()) {
      const auto alignment = number(words[++next]);
      if (!alignment) return std::nullopt;
      place.alignment = *alignment;
    } else if (!std::regex_match(words[next].begin(), words[next].end(), kAttribute)) {
      break;
    }
  }
  for (; next < words.size(); ++next) place.value += (place.value.empty() ? "" : " ") + std::string(words[next]);
  if (place.value.empty()) return std::nullopt;
  return place;
}

// What pointers of the function at hand are derived from, up to its local variables.
class Derivations {
 public:
  void begin_function() { from_.clear(); }
  void read(const std::string& line) {
    static const std::regex kDerived(
        R"(^\s*(%[-\w.$]+) = (?:(alloca) |bitcast .* (%[-\w.$]+) to |addrspacecast .* (%[-\w.$]+) to )"
        R"(|getelementptr .*?(?:\*|ptr(?: addrspace\(\d+\))?) (%[-\w.$]+)))");
    std::smatch match;
    if (!std::regex_search(line, match, kDerived)) return;
    for (std::size_t group = 2; group < match.size(); ++group) {
      if (match[group].matched) from_[match[1]] = match[group];
    }
  }
  [[nodiscard]] bool is_local(const std::string& value) const {
    std::string at = value;
    for (auto found = from_.find(at); found != from_.end(); found = from_.find(at)) at = found->second;
    return at == "alloca";
  }

 private:
  std::map<std::string, std::string> from_;
};

// A copy of, or a fill with a constant of, so many bytes.
struct Transfer {
  Place to;
  std::optional<Place> from;
  std::uint64_t fill = 0;  // of a byte
  std::uint64_t bytes = 0;
  bool may_overlap = false;
  std::string debug;  // ", !dbg !7" or nothing
};

std::optional<Transfer> transfer_of(std::string_view line) {
  const std::size_t call = line.find("call void @llvm.mem");
  if (call == std::string_view::npos) return std::nullopt;
  const std::string_view name = line.substr(line.find('@', call) + 6);
  const bool copies = name.starts_with("memcpy.") || name.starts_with("memmove.");
  if (!copies && !name.starts_with("memset.")) return std::nullopt;
  const auto words = call_of(line, line.find('(', call));
  if (!words || words->arguments.size() != 4 || words->arguments[3] != " i1 false") return std::nullopt;
  const auto constant = [](std::string_view argument) { return number(words_of(argument).back()); };
  const auto to = pointer_in(words->arguments[0]);
  const auto bytes = constant(words->arguments[2]);
  if (!to || !bytes) return std::nullopt;
  Transfer transfer{*to, std::nullopt, 0, *bytes, name.starts_with("memmove."), {}};
  if (copies) {
    transfer.from = pointer_in(words->arguments[1]);
    if (!transfer.from) return std::nullopt;
  } else {
    const auto fill = constant(words->arguments[1]);
    if (!fill) return std::nullopt;
    transfer.fill = *fill & 0xffU;
  }
  if (const std::size_t debug = words->rest.find(", !dbg !"); debug != std::string_view::npos) {
    const std::string_view from = words->rest.substr(debug);
    transfer.debug = from.substr(0, from.find_first_not_of("0123456789", 8));
  }
  return transfer;
}

bool is_to_be_whole(const Transfer& transfer, const Derivations& derivations) {
  if (transfer.bytes == 0 || transfer.bytes > (transfer.may_overlap ? kAtATime : kLongest)) return false;
  const std::uint64_t alignment =
      transfer.from ? std::min(transfer.to.alignment, transfer.from->alignment) : transfer.to.alignment;
  if (alignment >= kWidest && (transfer.bytes >= kWidest || transfer.bytes == kThreeWords)) return true;
  return transfer.bytes <= kAtATime &&
         (derivations.is_local(transfer.to.value) || (transfer.from && derivations.is_local(transfer.from->value)));
}

const char* type_of(std::uint64_t bytes) {
  return bytes == 16 ? "<4 x i32>" : bytes == 8 ? "i64" : bytes == 4 ? "i32" : bytes == 2 ? "i16" : "i8";
}

std::string constant_of(std::uint64_t bytes, std::uint64_t fill) {
  const std::uint64_t word = fill * 0x0101'0101'0101'0101U;
  if (bytes == 16) {
    const auto part = static_cast<std::int32_t>(word);
    return fmt::format("<i32 {0}, i32 {0}, i32 {0}, i32 {0}>", part);
  }
  const auto shifted = static_cast<std::int64_t>(word) >> (64 - 8 * bytes);
  return std::to_string(shifted);
}

// The lines of a transfer; `number` makes its names its own.
std::string lines_of(const Transfer& transfer, unsigned number) {
  std::string loads, stores, all;
  const auto address = [&](std::string& lines, const Place& place, std::string_view name, std::string_view type,
                           std::uint64_t offset) {
    const std::string byte = place.pointer_to("i8");
    lines +=
        fmt::format("  %{}.at = getelementptr i8, {} {}, i64 {}{}\n", name, byte, place.value, offset, transfer.debug);
    if (place.opaque) return fmt::format("%{}.at", name);
    lines +=
        fmt::format("  %{0}.as = bitcast {1} %{0}.at to {2}{3}\n", name, byte, place.pointer_to(type), transfer.debug);
    return fmt::format("%{}.as", name);
  };
  const std::uint64_t alignment =
      transfer.from ? std::min(transfer.to.alignment, transfer.from->alignment) : transfer.to.alignment;
  // Three parts of a vector of four: words, which LLVM's back end joins with the access to the fourth.
  const bool words = alignment >= kWidest && transfer.bytes == kThreeWords;
  for (std::uint64_t offset = 0; offset < transfer.bytes;) {
    std::uint64_t piece = words ? 4 : std::min(kWidest, alignment);
    while (piece > transfer.bytes - offset) piece /= 2;
    const std::uint64_t aligned = !words ? piece : offset == 0 ? kWidest : offset;
    const std::string type = type_of(piece);
    const std::string name = fmt::format("heddle.{}.{}", number, offset);
    std::string value = constant_of(piece, transfer.fill);
    if (transfer.from) {
      value = "%" + name + ".value";
      const std::string from = address(loads, *transfer.from, name + ".from", type, offset);
      loads += fmt::format("  {} = load {}, {} {}, align {}{}\n", value, type, transfer.from->pointer_to(type), from,
                           aligned, transfer.debug);
    }
    const std::string to = address(stores, transfer.to, name + ".to", type, offset);
    stores += fmt::format("  store {} {}, {} {}, align {}{}\n", type, value, transfer.to.pointer_to(type), to, aligned,
                          transfer.debug);
    offset += piece;
    if (offset % kAtATime == 0 || offset == transfer.bytes) {
      all += loads + stores;
      loads.clear();
      stores.clear();
    }
  }
  return all;
}

// An access of 8 bytes at a multiple of 4, as two of 4 bytes; nothing for another line. `number` makes its names its
// own.
std::optional<std::string> halves_of(const std::string& line, unsigned number) {
  static const std::regex kAccess(
      R"(^  (?:(%[-\w.$]+) = load|store) i64(?: (%?[-\w.$]+))?, )"
      R"((i64( addrspace\(\d+\))?\*|ptr( addrspace\(\d+\))?) (%[-\w.$]+), align 4(, !dbg !\d+)?(?:, !.*)?\n$)");
  std::smatch match;
  if (!std::regex_match(line, match, kAccess) || match[1].matched == match[2].matched) return std::nullopt;
  const bool opaque = match[3].str().starts_with("ptr");
  const std::string pointer = opaque ? match[3].str() : "i32" + match[4].str() + "*";
  const std::string debug = match[7];
  const std::string name = fmt::format("%heddle.half.{}", number);
  std::string out;
  const auto add = [&](const std::string& text) { out += "  " + text + debug + "\n"; };
  std::string low = match[6];
  if (!opaque) {
    add(fmt::format("{}.low = bitcast {} {} to {}", name, match[3].str(), low, pointer));
    low = name + ".low";
  }
  add(fmt::format("{}.high = getelementptr inbounds i32, {} {}, i64 1", name, pointer, low));
  if (match[1].matched) {
    add(fmt::format("{}.a = load i32, {} {}, align 4", name, pointer, low));
    add(fmt::format("{0}.b = load i32, {1} {0}.high, align 4", name, pointer));
    add(fmt::format("{0}.c = zext i32 {0}.a to i64", name));
    add(fmt::format("{0}.d = zext i32 {0}.b to i64", name));
    add(fmt::format("{0}.e = shl nuw i64 {0}.d, 32", name));
    add(fmt::format("{0} = or i64 {1}.e, {1}.c", match[1].str(), name));
  } else {
    const std::string value = match[2];
    add(fmt::format("{}.a = trunc i64 {} to i32", name, value));
    add(fmt::format("{}.c = lshr i64 {}, 32", name, value));
    add(fmt::format("{0}.b = trunc i64 {0}.c to i32", name));
    add(fmt::format("store i32 {0}.a, {1} {2}, align 4", name, pointer, low));
    add(fmt::format("store i32 {0}.b, {1} {0}.high, align 4", name, pointer));
  }
  return out;
}

}  // namespace

std::string with_whole_copies(std::string_view module) {
  std::string out, orders;  // orders: of uses, in the function at hand or behind all functions
  out.reserve(module.size());
  Derivations derivations;
  unsigned transfers = 0, before_function = 0;
  for (std::size_t begin = 0; begin < module.size();) {
    const std::size_t end = std::min(module.find('\n', begin), module.size() - 1) + 1;
    const std::string_view line = module.substr(begin, end - begin);
    begin = end;
    if (line.starts_with("define ")) {
      derivations.begin_function();
      before_function = transfers;
    }
    const bool in_function = line.starts_with(' ') || line.starts_with('}');
    if (line.find("uselistorder") == (in_function ? 2 : 0)) {
      if (line.find(" asm ") == std::string_view::npos) orders += line;
      continue;
    }
    // They count uses, which have changed.
    if (!orders.empty() && (in_function ? before_function : 0) == transfers) out += orders;
    orders.clear();
    if (line.starts_with("  %") &&
        (line.find(" alloca ") != std::string_view::npos || line.find(" getelementptr ") != std::string_view::npos ||
         line.find("cast ") != std::string_view::npos)) {
      derivations.read(std::string(line));
    }
    if (const auto transfer = transfer_of(line); transfer && is_to_be_whole(*transfer, derivations)) {
      out += lines_of(*transfer, transfers++);
    } else if (line.find(" i64") != std::string_view::npos && line.find(", align 4") != std::string_view::npos) {
      const auto halves = halves_of(std::string(line), transfers);
      transfers += halves ? 1 : 0;
      out += halves ? std::string_view(*halves) : line;
    } else {
      out += line;
    }
  }
  if (transfers == 0) out += orders;
  return out;
}

}  // namespace heddle::cuda
