// What the lowerings of wmma share: which tiles and registers matrices of a size have.
#pragma once

#include "isa/instruction.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

constexpr unsigned kHalfRegisters = 8;  // of a factor of .f16

// Of a: m x k, of b: k x n, of c and d: m x n.
struct WarpMatrixSize {
  unsigned m = 16, n = 16, k = 16;
};
[[nodiscard]] WarpMatrixSize size_of_matrices(Modifiers& m);
// .row, or .col
[[nodiscard]] bool rows_first(Modifiers& m);

// Of products of that size; wide: of .f64.
struct WarpTiles {
  bool swapped;
  unsigned eights;  // of rows
  unsigned down, across;

  WarpTiles(const WarpMatrixSize& size, bool wide)
      : swapped(size.n > size.m),
        eights(wide ? 1 : 2),
        down((swapped ? size.n : size.m) / (8 * eights)),
        across((swapped ? size.m : size.n) / 8) {}
};

// A factor's part: `count` tiles of `eights` times eight lines, `deep` registers for each line of a tile.
struct FactorPart {
  unsigned bytes = 2;  // of an element
  unsigned per = 2;    // elements of a register, or pair
  unsigned deep = 2, eights = 2, count = 1;

  [[nodiscard]] unsigned registers() const { return deep * eights * count; }
};
// Refuses sizes that there are not for such elements.
[[nodiscard]] FactorPart part_of(Modifiers& m, const WarpMatrixSize& size, isa::Factor of, bool is_a);

// wmma.load and wmma.store, from what stands behind these words.
void load_warp_matrix(Selector& s, Modifiers& m);
void store_warp_matrix(Selector& s, Modifiers& m);

}  // namespace heddle::ptx
