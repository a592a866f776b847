#include "os/checkpoint/writer.hpp"

#include <fcntl.h>
#include <lz4.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.hpp"
#include "os/checkpoint/digest.hpp"
#include "os/checkpoint/image_format.hpp"
#include "os/checkpoint/mappings.hpp"

namespace heddle::checkpoint {

namespace {

constexpr std::size_t kMappingsBytes = std::size_t{4} << 20;  // of the list: some 40,000 mappings
constexpr std::size_t kOutBytes = std::size_t{1} << 20;
constexpr std::size_t kPathBytes = 4096;
constexpr std::size_t kRoom = std::size_t{8} << 20;  // for a workspace and a page on either side
constexpr int kLz4StateBytes = 1 << 15;              // LZ4_sizeofState() is 16 KiB

bool is_zero(const unsigned char* page) {
  std::uint64_t any = 0;
  for (std::size_t at = 0; at != kPageBytes; at += sizeof any) {
    std::uint64_t word = 0;
    std::memcpy(&word, page + at, sizeof word);
    any |= word;
  }
  return any == 0;
}

}  // namespace

struct ImageWriter::Workspace {
  int file = -1;
  int error = 0;
  std::uint64_t written = 0;
  Digest digest;
  std::size_t held = 0;  // bytes of `out`
  std::size_t mappings_bytes = 0;
  char path[kPathBytes];
  alignas(64) char lz4[kLz4StateBytes];
  alignas(64) char packed[LZ4_COMPRESSBOUND(kMostBlockBytes)];
  alignas(64) unsigned char original[kMostBlockBytes];  // of a mapped file
  alignas(64) char out[kOutBytes];
  char mappings[kMappingsBytes];

  void flush();
  void put(const void* bytes, std::size_t count);
  void read_mappings();
  void write_mapping(const Mapping& mapping);
  void write_memory(const Mapping& mapping);
  void write_changed(const Mapping& mapping, int original_file);
  void write_block(std::uint64_t address, std::size_t bytes);
};

// Between pages without rights, so that the system does not join it with other mappings.
ImageWriter::ImageWriter() {
  void* const room = ::mmap(nullptr, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || LZ4_sizeofState() > kLz4StateBytes) {
    throw InternalError("no room for writing a checkpoint");
  }
  char* const place = static_cast<char*>(room) + kPageBytes;
  if (::mprotect(place, kRoom - 2 * kPageBytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(room, kRoom);
    throw InternalError("no room for writing a checkpoint");
  }
  static_assert(sizeof(Workspace) <= kRoom - 2 * kPageBytes);
  workspace_ = new (place) Workspace;
}

ImageWriter::~ImageWriter() {
  ::munmap(reinterpret_cast<char*>(workspace_) - kPageBytes, kRoom);
}

std::uint64_t ImageWriter::bytes() const {
  return workspace_->written;
}

void ImageWriter::Workspace::flush() {
  digest.add(out, held);
  for (std::size_t done = 0; done != held && error == 0;) {
    const ssize_t count = ::write(file, out + done, held - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      error = count == 0 ? ENOSPC : errno;
    }
  }
  written += held;
  held = 0;
}

void ImageWriter::Workspace::put(const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count != 0 && error == 0) {
    const std::size_t part = std::min(count, kOutBytes - held);
    std::memcpy(out + held, next, part);
    held += part;
    next += part;
    count -= part;
    if (held == kOutBytes) {
      flush();
    }
  }
}

void ImageWriter::Workspace::read_mappings() {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  ssize_t count = maps < 0 ? -1 : 1;
  while (count > 0 && mappings_bytes != kMappingsBytes) {
    count = ::read(maps, mappings + mappings_bytes, kMappingsBytes - mappings_bytes);
    mappings_bytes += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  if (count != 0) {
    error = count < 0 ? errno : ENOMEM;
  }
  if (maps >= 0) {
    ::close(maps);
  }
}

void ImageWriter::Workspace::write_block(std::uint64_t address, std::size_t bytes) {
  const auto* const from = reinterpret_cast<const char*>(address);
  const int packed_bytes = LZ4_compress_fast_extState(lz4, from, packed, static_cast<int>(bytes), sizeof packed, 1);
  const bool packs = packed_bytes > 0 && static_cast<std::size_t>(packed_bytes) < bytes;
  const BlockHeader header{address, static_cast<std::uint32_t>(bytes),
                           static_cast<std::uint32_t>(packs ? static_cast<std::size_t>(packed_bytes) : bytes)};
  put(&header, sizeof header);
  put(packs ? packed : from, header.stored);
}

// Runs of pages that are not all zero.
void ImageWriter::Workspace::write_memory(const Mapping& mapping) {
  std::uint64_t begin = mapping.begin;
  for (std::uint64_t page = mapping.begin; page != mapping.end && error == 0; page += kPageBytes) {
    const bool zero = is_zero(reinterpret_cast<const unsigned char*>(page));
    const std::uint64_t end = zero ? page : page + kPageBytes;
    if (begin != end && (zero || end == mapping.end || end - begin == kMostBlockBytes)) {
      write_block(begin, end - begin);
      begin = end;
    }
    if (zero) {
      begin = page + kPageBytes;
    }
  }
}

// Runs of pages that are no longer what the file has. Behind its end there is nothing to look at.
void ImageWriter::Workspace::write_changed(const Mapping& mapping, int original_file) {
  for (std::uint64_t part = mapping.begin; part < mapping.end && error == 0; part += kMostBlockBytes) {
    const std::size_t wanted = std::min<std::uint64_t>(mapping.end - part, kMostBlockBytes);
    std::size_t got = 0;
    while (got != wanted) {
      const ssize_t count = ::pread(original_file, original + got, wanted - got,
                                    static_cast<off_t>(mapping.offset + (part - mapping.begin) + got));
      if (count < 0 && errno != EINTR) {
        error = errno;
        return;
      }
      if (count == 0) {
        break;
      }
      got += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    const std::size_t pages = (got + kPageBytes - 1) / kPageBytes * kPageBytes;
    std::memset(original + got, 0, pages - got);
    std::uint64_t begin = part;
    for (std::size_t at = 0; at != pages; at += kPageBytes) {
      const std::uint64_t page = part + at;
      if (std::memcmp(reinterpret_cast<const void*>(page), original + at, kPageBytes) == 0) {
        if (begin != page) {
          write_block(begin, page - begin);
        }
        begin = page + kPageBytes;
      }
    }
    if (begin < part + pages) {
      write_block(begin, part + pages - begin);
    }
    if (got != wanted) {
      return;
    }
  }
}

void ImageWriter::Workspace::write_mapping(const Mapping& mapping) {
  if (mapping.begin == reinterpret_cast<std::uint64_t>(this) || !mapping.reads) {
    return;  // what may not be read has no contents that anybody knows
  }
  switch (mapping.kind()) {
    case Mapping::Kind::memory:
      write_memory(mapping);
      break;
    case Mapping::Kind::file:
      if (!mapping.executes && !mapping.shared && mapping.name.size() < kPathBytes) {  // code stays as it is
        std::memcpy(path, mapping.name.data(), mapping.name.size());
        path[mapping.name.size()] = 0;
        const int original_file = ::open(path, O_RDONLY | O_CLOEXEC);
        if (original_file < 0) {
          error = errno;
          return;
        }
        write_changed(mapping, original_file);
        ::close(original_file);
      }
      break;
    case Mapping::Kind::system:
    case Mapping::Kind::fixed:
      break;
    case Mapping::Kind::other:
      error = kStrange;
  }
}

int ImageWriter::write(int file, std::string_view notes, const Registers& registers) {
  Workspace& work = *workspace_;
  work.file = file;
  work.read_mappings();
  Preamble preamble;
  preamble.notes_bytes = notes.size();
  preamble.mappings_bytes = work.mappings_bytes;
  preamble.registers = registers;
  work.put(&preamble, sizeof preamble);
  work.put(notes.data(), notes.size());
  work.put(work.mappings, work.mappings_bytes);
  std::string_view text(work.mappings, work.mappings_bytes);
  Mapping mapping;
  while (!text.empty() && work.error == 0) {
    if (!take_mapping(text, mapping)) {
      work.error = kStrange;
      break;
    }
    work.write_mapping(mapping);
  }
  const BlockHeader last;
  work.put(&last, sizeof last);
  work.flush();
  const Trailer trailer{work.written + sizeof(Trailer), work.digest.value()};
  work.put(&trailer, sizeof trailer);
  work.flush();
  return work.error;
}

}  // namespace heddle::checkpoint
