#include "os/checkpoint/image.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "os/checkpoint/digest.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::checkpoint {

namespace {

template <class T>
T value_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

Image::Image(const std::string& path) : path_(path) {
  const auto refuse = [&](const std::string& what) { throw InputError({path}, what); };
  if (const auto reason = unreadable_reason(path)) {
    refuse("the checkpoint cannot be read: " + *reason);
  }
  const os::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!file.open() || ::fstat(file.number(), &found) != 0) {
    refuse(fmt::format("the checkpoint cannot be read: {}", std::strerror(errno)));
  }
  const auto bytes = static_cast<std::size_t>(found.st_size);
  if (bytes < sizeof(Preamble) + sizeof(Trailer)) {
    refuse("this is no checkpoint, or one that has been cut short");
  }
  void* const place = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (place == MAP_FAILED) {
    refuse(fmt::format("the checkpoint cannot be read: {}", std::strerror(errno)));
  }
  bytes_ = {static_cast<const char*>(place), bytes};
  preamble_ = value_at<Preamble>(bytes_, 0);
  if (preamble_.magic != kMagic) {
    refuse("this is no checkpoint");
  }
  if (preamble_.version != kVersion) {
    refuse(fmt::format("the checkpoint is of version {}, and this program reads version {} only", preamble_.version,
                       kVersion));
  }
  const auto trailer = value_at<Trailer>(bytes_, bytes - sizeof(Trailer));
  Digest digest;
  digest.add(bytes_.data(), bytes - sizeof(Trailer));
  if (trailer.file_bytes != bytes || trailer.digest != digest.value()) {
    refuse("the checkpoint is damaged: it has been changed or cut short");
  }
  const std::string_view body = bytes_.substr(sizeof(Preamble), bytes - sizeof(Preamble) - sizeof(Trailer));
  if (preamble_.notes_bytes > body.size() || preamble_.mappings_bytes > body.size() - preamble_.notes_bytes) {
    throw InternalError("the parts of a checkpoint are longer than the file");
  }
  notes_ = notes_of(body.substr(0, preamble_.notes_bytes));
  mappings_ = mappings_of(body.substr(preamble_.notes_bytes, preamble_.mappings_bytes));
  read_blocks(body.substr(preamble_.notes_bytes + preamble_.mappings_bytes));
}

Image::~Image() {
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void Image::read_blocks(std::string_view left) {
  for (;;) {
    BlockHeader header;
    if (left.size() < sizeof header) {
      throw InternalError("the blocks of a checkpoint have no end");
    }
    header = value_at<BlockHeader>(left, 0);
    left.remove_prefix(sizeof header);
    if (header.bytes == 0) {
      break;
    }
    if (header.bytes > kMostBlockBytes || header.stored > left.size() || header.stored > header.bytes) {
      throw InternalError(fmt::format("the block of a checkpoint for {:#x} is too long", header.address));
    }
    blocks_.push_back({header.address, header.bytes, left.substr(0, header.stored)});
    left.remove_prefix(header.stored);
  }
}

}  // namespace heddle::checkpoint
