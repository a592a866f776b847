// The program's own memory, at addresses that a program gives: the system copies, and says where there is none, so
// that a bad pointer is an error code and no crash of the library.
#pragma once

#include <cstddef>
#include <string>

namespace heddle::cudart {

inline constexpr std::size_t kPage = 4096;  // bytes of the host's pages

// Rows of bytes in the program's memory, so far apart; or without gaps in the library's own.
struct HostRows {
  std::size_t pitch = 0, width = 0, height = 1;
};
// False: some of the program's memory is not there, or not to be read or written.
[[nodiscard]] bool read_host(void* into, const void* from, const HostRows& rows);
[[nodiscard]] bool write_host(void* to, const void* from, const HostRows& rows);
// Within the program's memory. What overlaps is copied as by memmove, and is not looked at before.
[[nodiscard]] bool copy_host(void* to, const void* from, std::size_t bytes);
// Of bytes that are to be copied otherwise: whether all of their pages are there, and the first and last byte can be
// read or written.
[[nodiscard]] bool can_read(const void* from, std::size_t bytes);
[[nodiscard]] bool can_write(void* to, std::size_t bytes);
[[nodiscard]] bool is_mapped(const void* at, std::size_t bytes);
// The identifier of C that stands there as a text; empty: none does, or it is longer than `kLongestIdentifier`.
inline constexpr std::size_t kLongestIdentifier = 1023;
[[nodiscard]] std::string host_identifier(const void* text);

// What the user is told of it.
[[nodiscard]] std::string no_memory_to_read(const void* at, std::size_t bytes);
[[nodiscard]] std::string no_memory_to_write(const void* at, std::size_t bytes);

}  // namespace heddle::cudart
