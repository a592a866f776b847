// Suggestions for mistyped names: "did you mean 'warp_size'?".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (each swap's letters are not
// edited again: the "optimal string alignment" distance).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate with the smallest distance to `word`, the earliest one among equals; nothing when even that candidate
// is too far to be a slip of the pen: more than two edits (one in a word of less than five letters) and more than a
// third of the word. Case and '-' against '_' do not count as edits.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean 'warp_size'?", or `otherwise` when nothing is near.
[[nodiscard]] std::string suggest(std::string_view word, const std::vector<std::string>& candidates,
                                  std::string_view otherwise = {});

// "a, b, c"
[[nodiscard]] std::string join(const std::vector<std::string>& names, std::string_view separator = ", ");

}  // namespace heddle
