// The memory of a process, as /proc/self/maps tells of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::checkpoint {

struct Mapping {
  enum class Kind {
    memory,  // of the process's own
    file,    // of a file, changed in part perhaps
    system,  // of the kernel's, which can be moved: [vdso] and its data
    fixed,   // of the kernel's, in every process at the same place
    other,   // what an image cannot have: memory shared with other processes, devices, files that are gone
  };
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file
  bool reads = false;
  bool writes = false;
  bool executes = false;
  bool shared = false;
  std::string_view name;  // a path, a name in brackets or nothing
  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
  [[nodiscard]] Kind kind() const;
};

// Takes the first line of `text` off and apart; allocates nothing. False: there is none, or it is no such line.
[[nodiscard]] bool take_mapping(std::string_view& text, Mapping& mapping);

// The names point into `text`. Throws InternalError for a text of another form.
[[nodiscard]] std::vector<Mapping> mappings_of(std::string_view text);
// Of this process.
[[nodiscard]] std::string mappings_text();

}  // namespace heddle::checkpoint
