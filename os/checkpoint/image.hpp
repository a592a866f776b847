// The file of a checkpoint, read and found whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/checkpoint/image_format.hpp"
#include "os/checkpoint/mappings.hpp"
#include "os/checkpoint/notes.hpp"

namespace heddle::checkpoint {

class Image {
 public:
  // Throws InputError naming the file where it is no checkpoint, is one of another version, or is damaged.
  explicit Image(const std::string& path);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  [[nodiscard]] const Registers& registers() const { return preamble_.registers; }
  [[nodiscard]] const Notes& notes() const { return notes_; }
  [[nodiscard]] const std::vector<Mapping>& mappings() const { return mappings_; }
  struct Block {
    std::uint64_t address;
    std::uint32_t bytes;
    std::string_view stored;  // as BlockHeader::stored
  };
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }

 private:
  void read_blocks(std::string_view left);

  std::string path_;
  std::string_view bytes_;  // of the whole file
  Preamble preamble_;
  Notes notes_;
  std::vector<Mapping> mappings_;
  std::vector<Block> blocks_;
};

}  // namespace heddle::checkpoint
