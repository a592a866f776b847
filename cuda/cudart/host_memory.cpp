#include "cuda/cudart/host_memory.hpp"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace heddle::cudart {
namespace {

constexpr std::size_t kMostRows = 256;  // of one system call; it takes 1024

// As process_vm_readv() and process_vm_writev() of this very process.
using Copy = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

enum class Copied { all, not_all, refused };  // refused: the system does not have the call, or does not let us

Copied copy(Copy call, void* own, void* others, const HostRows& rows) {
  std::array<iovec, kMostRows> parts{};
  for (std::size_t y = 0; y < rows.height;) {
    const std::size_t count = std::min(kMostRows, rows.height - y);
    for (std::size_t i = 0; i < count; ++i) {
      parts[i] = {static_cast<char*>(others) + (y + i) * rows.pitch, rows.width};
    }
    const std::size_t bytes = count * rows.width;
    const iovec here{static_cast<char*>(own) + y * rows.width, bytes};
    // One call moves 2 GiB at most, so that what is larger is one row, piece by piece.
    const ssize_t done = call(::getpid(), &here, 1, parts.data(), count, 0);
    if (done < 0 && (errno == ENOSYS || errno == EPERM)) return Copied::refused;
    if (done <= 0 || (static_cast<std::size_t>(done) < bytes && count != 1)) return Copied::not_all;
    if (static_cast<std::size_t>(done) < bytes) {
      const HostRows rest{0, rows.width - static_cast<std::size_t>(done), 1};
      const Copied further = copy(call, static_cast<char*>(own) + y * rows.width + done,
                                  static_cast<char*>(others) + y * rows.pitch + done, rest);
      if (further != Copied::all) return further;
    }
    y += count;
  }
  return Copied::all;
}

std::string told(const char* what, const void* at, std::size_t bytes) {
  char text[128];
  std::snprintf(text, sizeof text, "the program has no memory that can be %s at %p (%zu bytes)", what, at, bytes);
  return text;
}

}  // namespace

bool read_host(void* into, const void* from, const HostRows& rows) {
  const Copied copied = copy(::process_vm_readv, into, const_cast<void*>(from), rows);
  if (copied != Copied::refused) return copied == Copied::all;
  for (std::size_t y = 0; y < rows.height; ++y) {
    std::memcpy(static_cast<char*>(into) + y * rows.width, static_cast<const char*>(from) + y * rows.pitch, rows.width);
  }
  return true;
}

bool write_host(void* to, const void* from, const HostRows& rows) {
  const Copied copied = copy(::process_vm_writev, const_cast<void*>(from), to, rows);
  if (copied != Copied::refused) return copied == Copied::all;
  for (std::size_t y = 0; y < rows.height; ++y) {
    std::memcpy(static_cast<char*>(to) + y * rows.pitch, static_cast<const char*>(from) + y * rows.width, rows.width);
  }
  return true;
}

std::string host_identifier(const void* text) {
  constexpr std::string_view kLetters = "_$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kDigits = "0123456789";
  std::string name;
  for (const char* at = static_cast<const char*>(text); name.size() <= kLongestIdentifier; ++at) {
    char letter = 0;
    if (!read_host(&letter, at, {0, 1, 1})) break;
    if (letter == 0) return name;
    const bool fits = kLetters.find(letter) != std::string_view::npos ||
                      (!name.empty() && kDigits.find(letter) != std::string_view::npos);
    if (!fits) break;
    name += letter;
  }
  return {};
}

bool copy_host(void* to, const void* from, std::size_t bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(to);
  const auto b = reinterpret_cast<std::uintptr_t>(from);
  if (a < b + bytes && b < a + bytes) {
    if (!can_read(from, bytes) || !can_write(to, bytes)) return false;
    std::memmove(to, from, bytes);
    return true;
  }
  return write_host(to, from, {0, bytes, 1});
}

bool is_mapped(const void* at, std::size_t bytes) {
  constexpr std::size_t kMostPages = 1024;  // of one system call
  std::array<unsigned char, kMostPages> resident{};
  const auto first = reinterpret_cast<std::uintptr_t>(at) / kPage * kPage;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(at) + bytes;
  if (end < first) return false;
  for (std::uintptr_t page = first; page < end; page += kMostPages * kPage) {
    const std::uintptr_t length = std::min<std::uintptr_t>(end - page, kMostPages * kPage);
    if (::mincore(reinterpret_cast<void*>(page), length, resident.data()) != 0 && errno == ENOMEM) return false;
  }
  return true;
}

bool can_read(const void* from, std::size_t bytes) {
  if (bytes == 0) return true;
  std::array<char, 2> ends{};
  return read_host(ends.data(), from, {bytes - 1, 1, bytes == 1 ? 1U : 2U}) && is_mapped(from, bytes);
}

// The first and last byte are written as they are.
bool can_write(void* to, std::size_t bytes) {
  if (bytes == 0) return true;
  const HostRows rows{bytes - 1, 1, bytes == 1 ? 1U : 2U};
  std::array<char, 2> ends{};
  return read_host(ends.data(), to, rows) && write_host(to, ends.data(), rows) && is_mapped(to, bytes);
}

std::string no_memory_to_read(const void* at, std::size_t bytes) {
  return told("read", at, bytes);
}
std::string no_memory_to_write(const void* at, std::size_t bytes) {
  return told("written", at, bytes);
}

}  // namespace heddle::cudart
