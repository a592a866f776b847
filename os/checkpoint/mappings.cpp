#include "os/checkpoint/mappings.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/error.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::checkpoint {

namespace {

bool take_number(std::string_view& line, int base, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return error == std::errc();
}

bool take_letter(std::string_view& line, char letter) {
  if (line.empty() || line.front() != letter) {
    return false;
  }
  line.remove_prefix(1);
  return true;
}

// Up to the next blank, which goes too.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  while (take_letter(line, ' ')) {
  }
  return word;
}

}  // namespace

Mapping::Kind Mapping::kind() const {
  constexpr std::array<std::string_view, 3> kSystem = {"[vdso]", "[vvar]", "[vvar_vclock]"};
  for (const std::string_view system : kSystem) {
    if (name == system) {
      return Kind::system;
    }
  }
  if (name == "[vsyscall]") {
    return Kind::fixed;
  }
  if (shared && writes) {
    return Kind::other;
  }
  if (name.starts_with("/")) {
    return name.ends_with(" (deleted)") || name.starts_with("/dev/") ? Kind::other : Kind::file;
  }
  const bool own = name.empty() || name == "[heap]" || name.starts_with("[stack") || name.starts_with("[anon:");
  return own && !shared ? Kind::memory : Kind::other;
}

// BEGIN-END rwxp OFFSET MAJOR:MINOR INODE      NAME
bool take_mapping(std::string_view& text, Mapping& mapping) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
  mapping = {};
  if (!take_number(line, 16, mapping.begin) || !take_letter(line, '-') || !take_number(line, 16, mapping.end) ||
      !take_letter(line, ' ') || mapping.end <= mapping.begin) {
    return false;
  }
  const std::string_view rights = take_word(line);
  if (rights.size() != 4) {
    return false;
  }
  mapping.reads = rights[0] == 'r';
  mapping.writes = rights[1] == 'w';
  mapping.executes = rights[2] == 'x';
  mapping.shared = rights[3] == 's';
  if (!take_number(line, 16, mapping.offset) || !take_letter(line, ' ')) {
    return false;
  }
  take_word(line);  // device
  take_word(line);  // inode
  mapping.name = line;
  return true;
}

std::vector<Mapping> mappings_of(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    if (!take_mapping(text, mappings.emplace_back())) {
      throw InternalError(fmt::format("line {} of the list of mappings cannot be read", mappings.size()));
    }
  }
  return mappings;
}

std::string mappings_text() {
  const os::Descriptor file(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.open()) {
    throw InternalError("/proc/self/maps cannot be read");
  }
  return os::read_all(file.number());
}

}  // namespace heddle::checkpoint
