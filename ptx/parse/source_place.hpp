// Where PTX text comes from, for messages about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::ptx {

// "k.cu:12, in scale(float*, int)" for a line of PTX text that a compiler wrote: the latest .loc of its function, and
// the function by the name that it has in its source. "" where no .loc says so. Looks at the whole text: for refusals.
[[nodiscard]] std::string source_place(std::string_view text, std::uint32_t line);

}  // namespace heddle::ptx
