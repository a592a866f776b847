#include "os/checkpoint/identity.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "os/checkpoint/digest.hpp"
#include "os/checkpoint/supported.hpp"
#include "os/process/descriptor.hpp"

#if HEDDLE_CHECKPOINT
#include <cpuid.h>
#endif

namespace heddle::checkpoint {

namespace {

const MappedFile* program_of(const Notes& notes) {
  const auto found = std::find_if(notes.mapped.begin(), notes.mapped.end(),
                                  [&](const MappedFile& file) { return file.path == notes.program; });
  return found == notes.mapped.end() ? nullptr : &*found;
}

// The first property that differs.
std::optional<std::string> differing(const std::vector<HostWord>& taken, const std::vector<HostWord>& here) {
  for (std::size_t i = 0; i != std::max(taken.size(), here.size()); ++i) {
    if (i >= taken.size() || i >= here.size() || taken[i].name != here[i].name) {
      return i < taken.size() ? taken[i].name : here[i].name;
    }
    if (taken[i].value != here[i].value) {
      return fmt::format("{}: {:#x}, here {:#x}", taken[i].name, taken[i].value, here[i].value);
    }
  }
  return std::nullopt;
}

// What functions of the kernel the process has, and with how much data.
std::vector<HostWord> kernel_words(const std::vector<Mapping>& mappings) {
  std::vector<HostWord> words = {{"page size", static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))}};
  for (const Mapping& mapping : mappings) {
    if (mapping.kind() != Mapping::Kind::system) {
      continue;
    }
    words.push_back({"size of " + std::string(mapping.name), mapping.bytes()});
    if (mapping.executes) {
      Digest digest;
      digest.add(reinterpret_cast<const void*>(mapping.begin), mapping.bytes());
      words.push_back({"contents of " + std::string(mapping.name), digest.value()});
    }
  }
  return words;
}

// Vendor, model and features, and how much state the system has enabled; not the number of the present processor.
std::vector<HostWord> processor_words() {
  std::vector<HostWord> words;
#if HEDDLE_CHECKPOINT
  struct Leaf {
    unsigned leaf;
    unsigned part;
    const char* registers;  // which of a, b, c, d count
  };
  constexpr std::array<Leaf, 7> kLeaves = {{{0, 0, "bcd"},
                                            {1, 0, "acd"},
                                            {7, 0, "bcd"},
                                            {7, 1, "a"},
                                            {0xd, 0, "abcd"},
                                            {0xd, 1, "a"},
                                            {0x80000001U, 0, "cd"}}};
  for (const Leaf& leaf : kLeaves) {
    std::array<unsigned, 4> values{};
    __get_cpuid_count(leaf.leaf, leaf.part, &values[0], &values[1], &values[2], &values[3]);
    for (const char* name = leaf.registers; *name != 0; ++name) {
      words.push_back({fmt::format("CPUID {:x}.{} e{}x", leaf.leaf, leaf.part, *name),
                       values[static_cast<std::size_t>(*name - 'a')]});
    }
  }
#endif
  return words;
}

// Device, number, length, and when its contents and when the rest was changed.
std::array<std::uint64_t, 5> version_of(const std::string& path) {
  struct stat found {};
  ::stat(path.c_str(), &found);
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  };
  return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size), nanoseconds(found.st_mtim),
          nanoseconds(found.st_ctim)};
}

}  // namespace

MappedFile identified(const std::string& path) {
  const os::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  MappedFile mapped{path, 0, 0};
  Digest digest;
  std::array<char, 1 << 16> buffer;
  ssize_t count = file.open() ? 1 : -1;
  while (count > 0) {
    count = ::read(file.number(), buffer.data(), buffer.size());
    if (count > 0) {
      digest.add(buffer.data(), static_cast<std::size_t>(count));
      mapped.bytes += static_cast<std::uint64_t>(count);
    }
  }
  if (count < 0) {
    throw InputError({path},
                     fmt::format("the process has mapped this file, and it cannot be read: {}", std::strerror(errno)));
  }
  mapped.digest = digest.value();
  return mapped;
}

void identify(const std::vector<Mapping>& mappings, Notes& notes) {
  std::error_code error;
  notes.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  notes.kernel = kernel_words(mappings);
  notes.processor = processor_words();
}

std::vector<MappedFile> MappedFiles::of(const std::vector<Mapping>& mappings) {
  std::vector<MappedFile> files;
  std::set<std::string_view> seen;
  for (const Mapping& mapping : mappings) {
    if (mapping.kind() == Mapping::Kind::other) {
      throw InputError({std::string(mapping.name)},
                       "the process has mapped what a checkpoint cannot have: a file that has been removed or replaced "
                       "since it began, or memory that it shares with others");
    }
    if (mapping.kind() == Mapping::Kind::file && seen.insert(mapping.name).second) {
      const std::string path(mapping.name);
      const std::array<std::uint64_t, 5> version = version_of(path);
      Known& known = known_[path];
      if (known.file.path.empty() || known.version != version) {
        known = {version, identified(path)};
      }
      files.push_back(known.file);
    }
  }
  return files;
}

std::optional<std::string> difference(const Notes& taken, const Notes& here) {
  const MappedFile* const theirs = program_of(taken);
  const MappedFile* const ours = program_of(here);
  if (theirs == nullptr || ours == nullptr || theirs->bytes != ours->bytes || theirs->digest != ours->digest) {
    return fmt::format("it was taken by another build of heddle, {}", taken.program);
  }
  if (const auto word = differing(taken.processor, here.processor)) {
    return fmt::format("it was taken on another kind of processor ({})", *word);
  }
  if (const auto word = differing(taken.kernel, here.kernel)) {
    return fmt::format("it was taken on another kernel of the system ({})", *word);
  }
  return std::nullopt;
}

}  // namespace heddle::checkpoint
