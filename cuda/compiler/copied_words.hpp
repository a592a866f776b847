// Copies of parts of vectors in LLVM's intermediate text, made of words of 4 bytes where that lets them be joined.
#pragma once

#include <string>
#include <string_view>

namespace heddle::cuda {

// Of a vector of which one or two parts are changed (q = a[i]; q.z = c; b[i] = q), clang copies the others two at a
// time: by loads and stores of 8 bytes beside the access of 4 bytes to the changed part. LLVM's back end joins accesses
// to neighbours of one length only. `module`, optimised code as text, comes back with two accesses of 4 bytes in place
// of each of 8 that does nothing but copy the other half of 16 aligned bytes in which something is accessed by 4. Every
// other line stays as it is, but for the orders of uses that the text may state: they go where uses have changed.
[[nodiscard]] std::string with_copied_words(std::string_view module);

}  // namespace heddle::cuda
