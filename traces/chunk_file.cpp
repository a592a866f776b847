#include "traces/chunk_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"

namespace heddle::traces {

namespace {

constexpr std::size_t kTagBytes = 4;
constexpr std::size_t kHeadBytes = kTagBytes + 8 + 8;  // what the checksum covers before the contents
constexpr std::size_t kStartBytes = 12;
constexpr std::string_view kEnd = "END ";
constexpr std::uint64_t kMostContents = std::uint64_t{1} << 32U;
// Deflate stores at least one byte for 1032 (RFC 1951: runs of 258 bytes in two bits), besides a few bytes of its own.
constexpr std::uint64_t kMostRatio = 1032;

std::uint32_t checksum(std::uint32_t before, std::span<const std::uint8_t> bytes) {
  auto crc = static_cast<uLong>(before);
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
    crc = crc32(crc, part.data(), static_cast<uInt>(part.size()));
    bytes = bytes.subspan(part.size());
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace

// ------------------------------------------------------------------------------------------------- writer

ChunkWriter::ChunkWriter(std::ostream& out) : out_(out) {
  ByteWriter start;
  start.raw({reinterpret_cast<const std::uint8_t*>(kTraceMagic.data()), kTraceMagic.size()});
  start.fixed(kTraceVersion, 4);
  out_.write(reinterpret_cast<const char*>(start.bytes().data()), static_cast<std::streamsize>(start.size()));
  written_ = start.size();
}

void ChunkWriter::write(std::string_view tag, std::span<const std::uint8_t> contents) {
  if (tag.size() != kTagBytes || contents.size() > kMostContents) {
    throw InternalError(fmt::format("a trace's chunk '{}' of {} bytes", tag, contents.size()));
  }
  uLongf stored = compressBound(static_cast<uLong>(contents.size()));
  std::vector<std::uint8_t> packed(stored);
  if (compress2(packed.data(), &stored, contents.data(), static_cast<uLong>(contents.size()), 6) != Z_OK) {
    throw InternalError("zlib cannot compress a trace's chunk");
  }
  packed.resize(stored);
  ByteWriter head;
  head.raw({reinterpret_cast<const std::uint8_t*>(tag.data()), tag.size()});
  head.fixed(contents.size(), 8);
  head.fixed(stored, 8);
  head.fixed(checksum(checksum(0, head.bytes()), packed), 4);
  out_.write(reinterpret_cast<const char*>(head.bytes().data()), static_cast<std::streamsize>(head.size()));
  out_.write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
  written_ += head.size() + packed.size();
  ++chunks_;
}

void ChunkWriter::finish() {
  ByteWriter count;
  count.fixed(chunks_, 8);
  write(kEnd, count.bytes());
}

// ------------------------------------------------------------------------------------------------- reader

void ChunkReader::refuse(std::uint64_t offset, const std::string& reason, const std::string& hint) const {
  throw InputError({name_}, fmt::format("byte {}: {}", offset, reason), hint);
}

void ChunkReader::refuse(const Chunk& chunk, const Damaged& damage) const {
  refuse(chunk.offset, fmt::format("in the chunk '{}' that begins here, at byte {} of its {} bytes of contents: {}",
                                   chunk.tag, damage.at, chunk.size, damage.what()));
}

ChunkReader::ChunkReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
  in_.clear();
  in_.seekg(0, std::ios::end);
  const std::streamoff end = in_.tellg();
  if (!in_ || end < 0) {
    throw InputError({name_}, "cannot be read");
  }
  const auto size = static_cast<std::uint64_t>(end);
  in_.seekg(0);
  std::array<char, kStartBytes> start{};
  in_.read(start.data(), start.size());
  const auto got = static_cast<std::size_t>(in_.gcount());
  const std::size_t compared = std::min(got, kTraceMagic.size());
  for (std::size_t i = 0; i < compared; ++i) {
    if (start[i] != kTraceMagic[i]) {
      refuse(i, "this is no recorded trace, which begins with \"HEDDLETR\"",
             "record one with heddle run --record FILE");
    }
  }
  if (got < start.size()) {
    refuse(got, fmt::format("the file ends within its first {} bytes", kStartBytes), "was it copied whole?");
  }
  const std::uint64_t version =
      ByteReader({reinterpret_cast<const std::uint8_t*>(start.data()) + kTraceMagic.size(), 4}).fixed(4);
  if (version != kTraceVersion) {
    refuse(kTraceMagic.size(),
           fmt::format("a trace of version {}; this program reads version {}", version, kTraceVersion),
           "record it again");
  }
  std::uint64_t offset = kStartBytes;
  while (scan_chunk(offset, size)) {
  }
}

// False: it was the last one.
bool ChunkReader::scan_chunk(std::uint64_t& offset, std::uint64_t size) {
  static constexpr const char* kCut = "was it copied whole, and did the run that recorded it end?";
  if (size - offset < kHeadBytes + 4) {
    refuse(size,
           size == offset ? "the file ends without its last chunk, 'END '"
                          : fmt::format("the file ends within the head of the chunk that begins at byte {}", offset),
           kCut);
  }
  std::array<std::uint8_t, kHeadBytes + 4> head{};
  in_.read(reinterpret_cast<char*>(head.data()), head.size());
  ByteReader fields(head);
  Chunk chunk;
  const auto tag = fields.raw(kTagBytes);
  chunk.tag.assign(tag.begin(), tag.end());
  chunk.offset = offset;
  chunk.size = fields.fixed(8);
  chunk.stored = fields.fixed(8);
  const std::uint64_t expected = fields.fixed(4);
  const bool letters = std::all_of(
      tag.begin(), tag.end(), [](std::uint8_t letter) { return letter == ' ' || (letter >= 'A' && letter <= 'Z'); });
  if (!letters) {
    refuse(offset, "here a chunk should begin, with a tag of four letters; the file is damaged");
  }
  if (chunk.size > kMostContents || chunk.size / kMostRatio > chunk.stored) {
    refuse(offset, fmt::format("the chunk '{}' claims {} bytes of contents in {} bytes; the file is damaged", chunk.tag,
                               chunk.size, chunk.stored));
  }
  const std::uint64_t left = size - offset - head.size();
  if (chunk.stored > left) {
    refuse(size,
           fmt::format("the file ends within the chunk '{}' that begins at byte {}: {} of {} bytes are there",
                       chunk.tag, offset, left, chunk.stored),
           kCut);
  }
  std::uint32_t crc = checksum(0, std::span(head).first(kHeadBytes));
  std::vector<std::uint8_t> buffer(std::size_t{1} << 16U);
  for (std::uint64_t done = 0; done < chunk.stored;) {
    const std::uint64_t part = std::min<std::uint64_t>(buffer.size(), chunk.stored - done);
    in_.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(part));
    if (!in_) {
      refuse(offset + head.size() + done, "cannot be read");
    }
    crc = checksum(crc, std::span(buffer).first(part));
    done += part;
  }
  if (crc != expected) {
    refuse(offset,
           fmt::format("the chunk '{}' that begins here does not match its checksum; the file is damaged", chunk.tag));
  }
  offset += head.size() + chunk.stored;
  if (chunk.tag == kEnd) {
    check_end(chunk, offset, size);
    in_.clear();
    return false;
  }
  chunks_.push_back(std::move(chunk));
  return true;
}

void ChunkReader::check_end(const Chunk& chunk, std::uint64_t next, std::uint64_t size) {
  const std::vector<std::uint8_t> contents = read(chunk, 8);
  if (contents.size() != 8 || ByteReader(contents).fixed(8) != chunks_.size()) {
    refuse(chunk.offset, fmt::format("the last chunk counts other than the {} chunks before it", chunks_.size()));
  }
  if (next != size) {
    refuse(next, fmt::format("{} bytes follow the last chunk", size - next), "was something appended to it?");
  }
}

// Unpacks a chunk piece by piece.
class ChunkReader::Unpacked {
 public:
  Unpacked(ChunkReader& reader, const Chunk& chunk)
      : reader_(reader), chunk_(chunk), left_(chunk.stored), stored_(kPiece), contents_(kPiece) {
    if (inflateInit(&stream_) != Z_OK) {
      throw InternalError("zlib cannot unpack a trace's chunk");
    }
    reader_.in_.clear();
    reader_.in_.seekg(static_cast<std::streamoff>(chunk.offset + kHeadBytes + 4));
  }
  ~Unpacked() { inflateEnd(&stream_); }
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  // Not empty while the contents have not ended.
  std::span<const std::uint8_t> next() {
    stream_.next_out = contents_.data();
    stream_.avail_out = static_cast<uInt>(contents_.size());
    while (stream_.avail_out != 0 && !ended_) {
      if (stream_.avail_in == 0) {
        fill();
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      ended_ = result == Z_STREAM_END;
      if (result != Z_OK && !ended_) {
        refuse();
      }
    }
    const std::size_t got = contents_.size() - stream_.avail_out;
    made_ += got;
    if (got == 0 || made_ > chunk_.size) {
      refuse();
    }
    return std::span(contents_).first(got);
  }
  // All contents have been taken: the chunk ends here, too.
  void expect_end() {
    while (!ended_) {
      std::uint8_t more = 0;
      stream_.next_out = &more;
      stream_.avail_out = 1;
      if (stream_.avail_in == 0) {
        fill();
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      ended_ = result == Z_STREAM_END;
      if ((result != Z_OK && !ended_) || stream_.avail_out == 0) {
        refuse();
      }
    }
    if (stream_.avail_in != 0 || left_ != 0) {
      refuse();
    }
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 16U;

  void fill() {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(stored_.size(), left_));
    if (part == 0) {
      refuse();
    }
    reader_.in_.read(reinterpret_cast<char*>(stored_.data()), static_cast<std::streamsize>(part));
    if (!reader_.in_) {
      reader_.refuse(chunk_.offset, "cannot be read any more", "has the file changed during the run?");
    }
    left_ -= part;
    stream_.next_in = stored_.data();
    stream_.avail_in = static_cast<uInt>(part);
  }
  [[noreturn]] void refuse() const {
    reader_.refuse(chunk_.offset, fmt::format("the chunk '{}' that begins here cannot be decompressed", chunk_.tag));
  }

  ChunkReader& reader_;
  const Chunk& chunk_;
  std::uint64_t left_;  // stored bytes that have not been read
  std::uint64_t made_ = 0;
  bool ended_ = false;
  z_stream stream_{};
  std::vector<std::uint8_t> stored_;
  std::vector<std::uint8_t> contents_;
};

void ChunkReader::read_on(const Chunk& chunk, const std::function<void(ByteReader&)>& use) {
  Unpacked unpacked(*this, chunk);
  ByteReader in(chunk.size, [&] { return unpacked.next(); });
  try {
    use(in);
  } catch (const Damaged& damage) {
    refuse(chunk, damage);
  }
  if (in.left() == 0) {
    unpacked.expect_end();
  }
}

std::vector<std::uint8_t> ChunkReader::read(const Chunk& chunk, std::uint64_t most) {
  if (chunk.size > most) {
    refuse(chunk.offset, fmt::format("the chunk '{}' claims {} bytes of contents, the most for it are {}; the file is "
                                     "damaged",
                                     chunk.tag, chunk.size, most));
  }
  Unpacked unpacked(*this, chunk);
  std::vector<std::uint8_t> contents;
  while (contents.size() < chunk.size) {
    const auto piece = unpacked.next();
    contents.insert(contents.end(), piece.begin(), piece.end());
  }
  unpacked.expect_end();
  return contents;
}

}  // namespace heddle::traces
