// The container of recorded traces: a file of compressed chunks, each with a checksum, so that a file that was cut off,
// changed or is something else is refused before anything of it is used. All numbers little-endian:
//
//   offset 0   8 bytes   magic, "HEDDLETR"
//          8   4 bytes   version of the format
//         12             chunks, one after another, each
//                          4 bytes   tag: four letters
//                          8 bytes   bytes of its contents
//                          8 bytes   bytes of its contents as stored (zlib, RFC 1950)
//                          4 bytes   CRC-32 (ISO 3309) of the 20 bytes before and of what is stored
//                                    its stored contents
//                        the last one has the tag "END " and the number of chunks before it, as 8 bytes
//
// Compression and checksum are zlib's.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/bytes.hpp"

namespace heddle::traces {

inline constexpr std::string_view kTraceMagic = "HEDDLETR";
inline constexpr std::uint32_t kTraceVersion = 1;

class ChunkWriter {
 public:
  // `out` outlives the writer, which does not look for its errors.
  explicit ChunkWriter(std::ostream& out);
  void write(std::string_view tag, std::span<const std::uint8_t> contents);
  // The last chunk. Without it the file is refused as incomplete.
  void finish();
  [[nodiscard]] std::uint64_t written() const { return written_; }  // bytes so far

 private:
  std::ostream& out_;
  std::uint64_t chunks_ = 0;
  std::uint64_t written_ = 0;
};

class ChunkReader {
 public:
  struct Chunk {
    std::string tag;
    std::uint64_t offset = 0;  // of its tag in the file
    std::uint64_t size = 0;    // of its contents
    std::uint64_t stored = 0;
  };

  // Reads the whole file once and checks it. `in` outlives the reader and can be positioned; `name` stands in messages.
  // Throws InputError with the byte offset at which the file is not a whole and undamaged trace, and the reason.
  ChunkReader(std::istream& in, std::string name);

  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // A chunk's contents. Throws InputError for more than `most` bytes of them.
  [[nodiscard]] std::vector<std::uint8_t> read(const Chunk& chunk, std::uint64_t most);
  // The contents in pieces, as they are read, so that they take no more memory than a piece: calls `use` with a reader
  // of them. One chunk at a time. Throws InputError, also for what `use` throws as Damaged.
  void read_on(const Chunk& chunk, const std::function<void(ByteReader&)>& use);
  // Throws InputError: something about the chunk's contents; `at` counts bytes of them.
  [[noreturn]] void refuse(const Chunk& chunk, const Damaged& damage) const;

 private:
  class Unpacked;
  [[noreturn]] void refuse(std::uint64_t offset, const std::string& reason, const std::string& hint = {}) const;
  [[nodiscard]] bool scan_chunk(std::uint64_t& offset, std::uint64_t size);
  void check_end(const Chunk& chunk, std::uint64_t next, std::uint64_t size);

  std::istream& in_;
  std::string name_;
  std::vector<Chunk> chunks_;
};

}  // namespace heddle::traces
