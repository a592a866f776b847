#include "cuda/compiler/architecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace heddle::cuda {
namespace {

// An architecture, and the first release of PTX that has it (PTX ISA, release notes).
struct Architecture {
  unsigned number;
  std::string_view ptx;
};
constexpr std::array kArchitectures = {
    Architecture{60, "5.0"}, Architecture{61, "5.0"}, Architecture{70, "6.0"}, Architecture{75, "6.3"},
    Architecture{80, "7.0"}, Architecture{86, "7.1"}, Architecture{89, "7.8"}, Architecture{90, "7.8"},
};
constexpr unsigned kNewestMajor = 90;
constexpr std::string_view kBeyond = "8.6";
constexpr unsigned kOldest = 10;
constexpr unsigned kNewest = 999;

// What stands between `key` and the line's end.
std::pair<std::size_t, std::size_t> behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {text.size(), 0};
  const std::size_t begin = at + key.size();
  return {begin, std::min(text.find('\n', begin), text.size()) - begin};
}

std::pair<unsigned, unsigned> release(std::string_view text) {
  std::pair<unsigned, unsigned> numbers{0, 0};
  const auto [dot, _] = std::from_chars(text.data(), text.data() + text.size(), numbers.first);
  if (dot != text.data() + text.size()) std::from_chars(dot + 1, text.data() + text.size(), numbers.second);
  return numbers;
}

}  // namespace

std::vector<unsigned> read_architectures(const std::string& word, const std::string& value) {
  constexpr std::string_view kVirtual = "arch=";
  std::string_view name = value;
  if (const std::size_t at = name.find(kVirtual); at != std::string_view::npos)
    name.remove_prefix(at + kVirtual.size());
  name = name.substr(0, name.find(','));
  if (name == "all" || name == "all-major" || name == "native") {
    std::vector<unsigned> all;
    for (const Architecture& one : kArchitectures) {
      if (name == "all" || (one.number % 10 == 0 && one.number <= kNewestMajor)) all.push_back(one.number);
    }
    return all;
  }
  return {read_architecture({word}, name)};
}

unsigned read_architecture(const SourceLocation& where, std::string_view name) {
  const std::size_t line = std::min(name.find('_'), name.size());
  const std::string_view family = name.substr(0, line);
  const std::string_view digits = name.substr(std::min(line + 1, name.size()));
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view rest(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
  if (error != std::errc() || number < kOldest || number > kNewest ||
      (family != "sm" && family != "compute" && family != "lto") || (!rest.empty() && rest != "a" && rest != "f")) {
    throw InputError(where, fmt::format("'{}' names no architecture", name), "sm_80, for example, is one");
  }
  return std::max(number, kLeastArchitecture);
}

std::vector<std::string> architecture_words(unsigned architecture) {
  if (architecture == kLeastArchitecture) return {};  // clang's own macro
  return {"-U__CUDA_ARCH__", fmt::format("-D__CUDA_ARCH__={}0", architecture)};
}

std::string with_target(std::string ptx, unsigned architecture) {
  if (architecture == kLeastArchitecture) return ptx;
  if (const auto [at, size] = behind(ptx, "\n.target sm_"); size != 0) {
    ptx.replace(at, size, std::to_string(architecture));
  }
  const auto* const known =
      std::find_if(kArchitectures.begin(), kArchitectures.end(),
                   [architecture](const Architecture& one) { return one.number >= architecture; });
  const std::string_view needed = known == kArchitectures.end() ? kBeyond : known->ptx;
  if (const auto [at, size] = behind(ptx, "\n.version ");
      size != 0 && release(needed) > release({ptx.data() + at, size})) {
    ptx.replace(at, size, needed);
  }
  return ptx;
}

}  // namespace heddle::cuda
