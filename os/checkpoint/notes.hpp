// What stands in an image besides memory: what must be the same where the image is resumed, and what is to be opened
// there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::checkpoint {

// A file that is mapped: the program, a library, a locale.
struct MappedFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;  // of its contents

  template <class Self, class Visitor>
  static void describe(Self& self, Visitor&& visit) {
    visit(self.path);
    visit(self.bytes);
    visit(self.digest);
  }
};

// A word about the host: "CPUID 7.0 ebx" and its value.
struct HostWord {
  std::string name;
  std::uint64_t value = 0;

  template <class Self, class Visitor>
  static void describe(Self& self, Visitor&& visit) {
    visit(self.name);
    visit(self.value);
  }
};

// A file that the process has open.
struct OpenFile {
  std::uint64_t number = 0;  // of the descriptor
  std::string path;
  std::uint64_t flags = 0;  // as open() takes them
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;         // how long it is; of what is no regular file 0
  std::uint64_t locked = 0;        // 1: flock() has it
  std::uint64_t digest = 0;        // of the last bytes before `position` (written) or of all up to 1 MiB (read)
  std::uint64_t digest_bytes = 0;  // so many

  template <class Self, class Visitor>
  static void describe(Self& self, Visitor&& visit) {
    visit(self.number);
    visit(self.path);
    visit(self.flags);
    visit(self.position);
    visit(self.bytes);
    visit(self.locked);
    visit(self.digest);
    visit(self.digest_bytes);
  }
};

struct Notes {
  std::string program;           // the path of the executable
  std::string folder;            // the working directory
  std::vector<HostWord> kernel;  // of the system
  std::vector<HostWord> processor;
  std::vector<MappedFile> mapped;
  std::vector<OpenFile> open;

  template <class Self, class Visitor>
  static void describe(Self& self, Visitor&& visit) {
    visit(self.program);
    visit(self.folder);
    visit(self.kernel);
    visit(self.processor);
    visit(self.mapped);
    visit(self.open);
  }
};

[[nodiscard]] std::string bytes_of(const Notes& notes);
// Throws InternalError for bytes that bytes_of() does not make.
[[nodiscard]] Notes notes_of(std::string_view bytes);

}  // namespace heddle::checkpoint
