#include "os/checkpoint/restore.hpp"

#include "base/error.hpp"
#include "os/checkpoint/supported.hpp"

#if HEDDLE_CHECKPOINT

#include <asm/prctl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <lz4.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>

#include "os/checkpoint/identity.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::checkpoint {

namespace {

constexpr std::uint64_t kLowest = std::uint64_t{1} << 32;  // programs without a place of their own lie below
constexpr std::uint64_t kHighest = (std::uint64_t{1} << 47) - kPageBytes;  // of addresses of programs
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::uint64_t kGap = kPageBytes;  // so that the system does not join what lies side by side
constexpr std::uint64_t kMostStack = std::uint64_t{64} << 20;
constexpr std::string_view kFailure =
    "heddle: internal error: the checkpoint could not be resumed: the system refused a mapping\n";

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

int rights_of(const Mapping& mapping) {
  return (mapping.reads ? PROT_READ : 0) | (mapping.writes ? PROT_WRITE : 0) | (mapping.executes ? PROT_EXEC : 0);
}

void* at(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

// The middle of the largest range that is free in both lists.
std::uint64_t free_range(const std::vector<Mapping>& one, const std::vector<Mapping>& other, std::uint64_t bytes) {
  std::map<std::uint64_t, std::uint64_t> used;  // end by begin
  for (const std::vector<Mapping>* const list : {&one, &other}) {
    for (const Mapping& mapping : *list) {
      if (mapping.begin < kHighest) {
        std::uint64_t& end = used[mapping.begin];
        end = std::max(end, mapping.end);
      }
    }
  }
  used[kHighest] = kHighest;
  std::uint64_t free_from = kLowest;
  std::uint64_t best = 0;
  std::uint64_t most = 0;
  for (const auto& [begin, end] : used) {
    if (begin > free_from && begin - free_from > most) {
      most = begin - free_from;
      best = free_from;
    }
    free_from = std::max(free_from, end);
  }
  if (most < bytes + 4 * kHugePage) {
    throw InternalError("no addresses are free for resuming the checkpoint");
  }
  return round_up(best + (most - bytes) / 2, kHugePage);
}

}  // namespace

Restoration::Restoration(const Image& image) : image_(image) {
  reserve();
  std::map<std::string_view, const MappedFile*> files;
  for (const MappedFile& file : image.notes().mapped) {
    files[file.path] = &file;
  }
  for (const auto& [path, file] : files) {
    if (path == image.notes().program) {
      continue;  // it has been compared
    }
    const MappedFile here = identified(std::string(path));
    if (here.bytes != file->bytes || here.digest != file->digest) {
      throw InputError({here.path}, "the checkpoint was taken with another version of this file, which it needs");
    }
  }
  for (const Region& region : regions_) {
    stage(region);
  }
  fill();
  for (const Region& region : regions_) {
    protect(region);
  }
}

Restoration::~Restoration() {
  if (begin_ != 0) {
    ::munmap(at(begin_), bytes_);
  }
}

// A range with room for everything, without rights.
void Restoration::reserve() {
  const std::string text = mappings_text();
  const std::vector<Mapping> here = mappings_of(text);
  std::uint64_t steps = 8;
  for (const Mapping& mapping : image_.mappings()) {
    const Mapping::Kind kind = mapping.kind();
    if (kind == Mapping::Kind::memory || kind == Mapping::Kind::file) {
      regions_.push_back({mapping, 0});
    } else if (kind == Mapping::Kind::system) {
      system_.push_back({mapping, 0});
    } else if (kind == Mapping::Kind::other) {
      throw InternalError(fmt::format("a checkpoint has the mapping {}", mapping.name));
    }
    ++steps;
  }
  control_ = round_up(restorer_code().bytes, kPageBytes) +
             round_up(steps * sizeof(Step) + sizeof(Arrival) + kFailure.size(), kPageBytes);
  bytes_ = control_ + kGap;
  for (std::vector<Region>* const list : {&regions_, &system_}) {
    for (Region& region : *list) {
      region.staged = bytes_;
      bytes_ += region.mapping.bytes() + kGap;
    }
  }
  begin_ = free_range(here, image_.mappings(), bytes_);
  void* const place =
      ::mmap(at(begin_), bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (place != at(begin_)) {
    begin_ = 0;
    throw InputError({"--resume"},
                     fmt::format("{} bytes of addresses cannot be had: {}", bytes_, std::strerror(errno)));
  }
  for (std::vector<Region>* const list : {&regions_, &system_}) {
    for (Region& region : *list) {
      region.staged += begin_;
    }
  }
}

// Writable at first, but for what stays as the file has it.
void Restoration::stage(const Region& region) {
  const Mapping& mapping = region.mapping;
  int flags = MAP_PRIVATE | MAP_FIXED;
  os::Descriptor file;
  if (mapping.kind() == Mapping::Kind::file) {
    const std::string path(mapping.name == image_.notes().program ? "/proc/self/exe" : mapping.name);
    file = os::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open()) {
      throw InputError({path}, fmt::format("the checkpoint needs this file: {}", std::strerror(errno)));
    }
  } else {
    flags |= MAP_ANONYMOUS;
  }
  const int rights = mapping.reads || mapping.writes ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (::mmap(at(region.staged), mapping.bytes(), rights, flags, file.number(), static_cast<off_t>(mapping.offset)) ==
      MAP_FAILED) {
    throw InputError({"--resume"},
                     fmt::format("{} bytes of memory cannot be had: {}", mapping.bytes(), std::strerror(errno)));
  }
}

void Restoration::fill() {
  auto region = regions_.begin();  // blocks and regions are in the order of their addresses
  for (const Image::Block& block : image_.blocks()) {
    while (region != regions_.end() && region->mapping.end <= block.address) {
      ++region;
    }
    if (region == regions_.end() || block.address < region->mapping.begin ||
        block.bytes > region->mapping.end - block.address || !region->mapping.reads) {
      throw InternalError(fmt::format("a checkpoint has a block for {:#x}, where it has no mapping", block.address));
    }
    char* const target = static_cast<char*>(at(region->staged + (block.address - region->mapping.begin)));
    const auto bytes = static_cast<int>(block.bytes);
    if (block.stored.size() == block.bytes) {
      std::memcpy(target, block.stored.data(), block.bytes);
    } else if (LZ4_decompress_safe(block.stored.data(), target, static_cast<int>(block.stored.size()), bytes) !=
               bytes) {
      throw InternalError(fmt::format("the block of a checkpoint for {:#x} cannot be unpacked", block.address));
    }
  }
}

void Restoration::protect(const Region& region) const {
  if (::mprotect(at(region.staged), region.mapping.bytes(), rights_of(region.mapping)) != 0) {
    throw InternalError(fmt::format("memory cannot get its rights: {}", std::strerror(errno)));
  }
}

void Restoration::add(std::uint64_t number, std::initializer_list<std::uint64_t> arguments) {
  Step& step = steps_.emplace_back();
  step.number = number;
  std::copy(arguments.begin(), arguments.end(), step.arguments);
}

// The kernel's mappings of this process leave their places, which the image may need; they take the places that the
// image had for them at the end. Until then nothing here asks for the time.
void Restoration::park_system_mappings() {
  const std::string text = mappings_text();
  const std::vector<Mapping> here = mappings_of(text);
  for (const Region& region : system_) {
    const auto found = std::find_if(here.begin(), here.end(),
                                    [&](const Mapping& mapping) { return mapping.name == region.mapping.name; });
    const std::uint64_t bytes = region.mapping.bytes();
    if (found == here.end() || found->bytes() != bytes ||
        ::mremap(at(found->begin), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at(region.staged)) == MAP_FAILED) {
      throw InternalError(
          fmt::format("the system does not let its {} be moved, which resuming needs", region.mapping.name));
    }
  }
}

// The stack grew by itself; as an ordinary mapping it does not. So what it could have grown to is added below it, as
// far as there is room.
Step Restoration::stack_growth() const {
  Step step;
  const std::uint64_t stack = image_.registers().stack;
  const auto own = std::find_if(regions_.begin(), regions_.end(), [&](const Region& region) {
    return region.mapping.begin <= stack && stack < region.mapping.end;
  });
  if (own == regions_.end() || own->mapping.name != "[stack]") {
    return step;
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  const std::uint64_t wanted = std::min<std::uint64_t>(limit.rlim_cur, kMostStack) / kPageBytes * kPageBytes;
  const std::uint64_t below = own == regions_.begin() ? kLowest : std::prev(own)->mapping.end + kHugePage;
  std::uint64_t begin = own->mapping.end > wanted ? own->mapping.end - wanted : 0;
  begin = std::max(begin, below);
  if (begin < own->mapping.begin) {
    step.number = SYS_mmap;
    const std::uint64_t arguments[] = {begin,
                                       own->mapping.begin - begin,
                                       PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                                       ~std::uint64_t{0},
                                       0};
    std::copy(std::begin(arguments), std::end(arguments), step.arguments);
  }
  return step;
}

void Restoration::plan() {
  add(SYS_munmap, {0, begin_});
  add(SYS_munmap, {begin_ + bytes_, kHighest - (begin_ + bytes_)});
  if (const Step growth = stack_growth(); growth.number != Step::kLast) {
    steps_.push_back(growth);
  }
  for (const std::vector<Region>* const list : {&regions_, &system_}) {
    for (const Region& region : *list) {
      const std::uint64_t bytes = region.mapping.bytes();
      add(SYS_mremap, {region.staged, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, region.mapping.begin});
    }
  }
  add(SYS_arch_prctl, {ARCH_SET_FS, image_.registers().thread});
}

void Restoration::go() {
  plan();
  const RestorerCode code = restorer_code();
  const std::uint64_t data = begin_ + round_up(code.bytes, kPageBytes);
  const std::uint64_t arrival = data + (steps_.size() + 1) * sizeof(Step);
  const std::uint64_t message = arrival + sizeof(Arrival);
  add(Step::kLast, {image_.registers().stack, image_.registers().code, arrival});
  if (::mmap(at(begin_), control_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED) {
    throw InternalError("no memory for resuming the checkpoint");
  }
  const Arrival note{begin_, bytes_};
  std::memcpy(at(begin_), code.begin, code.bytes);
  std::memcpy(at(data), steps_.data(), steps_.size() * sizeof(Step));
  std::memcpy(at(arrival), &note, sizeof note);
  std::memcpy(at(message), kFailure.data(), kFailure.size());
  if (message + kFailure.size() > begin_ + control_ ||
      ::mprotect(at(begin_), data - begin_, PROT_READ | PROT_EXEC) != 0) {
    throw InternalError("the code that resumes the checkpoint has no place");
  }
  park_system_mappings();
  const auto restorer = reinterpret_cast<Restorer>(begin_);
  restorer(static_cast<const Step*>(at(data)), static_cast<const char*>(at(message)), kFailure.size());
  __builtin_unreachable();
}

}  // namespace heddle::checkpoint

#else

namespace heddle::checkpoint {

Restoration::Restoration(const Image& image) : image_(image) {}
Restoration::~Restoration() = default;
void Restoration::go() {
  throw InternalError("checkpoints are not for this system");
}

}  // namespace heddle::checkpoint

#endif
