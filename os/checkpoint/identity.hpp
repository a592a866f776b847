// Whether an image can go on in this process: the same program with the same libraries, since it has their addresses,
// on the same kind of processor and the same kernel, since libraries have chosen their functions by them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/checkpoint/mappings.hpp"
#include "os/checkpoint/notes.hpp"

namespace heddle::checkpoint {

// Fills in Notes::program, kernel and processor, for this process with these mappings.
void identify(const std::vector<Mapping>& mappings, Notes& notes);
// Notes::mapped, of one checkpoint after another: a file is read again only when it has changed.
class MappedFiles {
 public:
  // Throws InputError naming a file that has been removed, replaced or cannot be read.
  [[nodiscard]] std::vector<MappedFile> of(const std::vector<Mapping>& mappings);

 private:
  struct Known {
    std::array<std::uint64_t, 5> version{};  // by which a change would show
    MappedFile file;
  };
  std::map<std::string, Known, std::less<>> known_;
};
// Throws InputError where the file cannot be read.
[[nodiscard]] MappedFile identified(const std::string& path);

// Why an image with the notes `taken` cannot go on in a process with `here`; none: it can, as far as program, kernel
// and processor say. Of the mapped files only the programs are compared.
[[nodiscard]] std::optional<std::string> difference(const Notes& taken, const Notes& here);

}  // namespace heddle::checkpoint
