// Matrices of a warp whose parts a program does not know: wmma (PTX ISA, "Matrix multiply-accumulate operation using
// wmma instructions").
//
// Which element a lane holds where is left to the GPU. Here a part is what mma takes in, as in mma.h: tiles of 16 rows
// (8 of .f64) and 8 columns. Where b has more columns than a has rows, b's columns are the rows, and a's rows are the
// columns. Parts of .f16 have eight registers by definition, and an element twice in them; here each is there once, in
// the first of them.
#include "ptx/lower/warp_matrix.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/matrix.hpp"

namespace heddle::ptx {

using isa::Factor;
using isa::Op;

WarpMatrixSize size_of_matrices(Modifiers& m) {
  return m.require<WarpMatrixSize>("a size of matrices", {{"m16n16k16", {16, 16, 16}},
                                                          {"m32n8k16", {32, 8, 16}},
                                                          {"m8n32k16", {8, 32, 16}},
                                                          {"m16n16k8", {16, 16, 8}},
                                                          {"m8n8k4", {8, 8, 4}}});
}

bool rows_first(Modifiers& m) {
  return m.require<bool>("an order of elements", {{"row", true}, {"col", false}});
}

namespace {

bool is_there(const WarpMatrixSize& size, Factor of) {
  if (of == Factor::f64) return size.k == 4;
  return size.k == (of == Factor::tf32 ? 8U : 16U);
}

}  // namespace

FactorPart part_of(Modifiers& m, const WarpMatrixSize& size, Factor of, bool is_a) {
  if (!is_there(size, of)) {
    m.refuse("this is no size of matrices of these elements",
             "m16n16k16, m32n8k16 and m8n32k16 are there for .f16, .bf16, .s8 and .u8, m16n16k8 for .tf32, m8n8k4 for "
             ".f64");
  }
  const WarpTiles tiles(size, of == Factor::f64);
  FactorPart part;
  part.bytes = of == Factor::f64 ? 8 : 4 / isa::elements_per_register(of);
  part.per = of == Factor::f64 ? 1 : isa::elements_per_register(of);
  part.deep = size.k / (4 * part.per);
  const bool down = is_a != tiles.swapped;
  part.eights = down ? tiles.eights : 1;
  part.count = down ? tiles.down : tiles.across;
  return part;
}

namespace {

struct PartProduct {
  Product product;
  bool half_c = false;  // c is of .f16
  bool half_d = false;
};

PartProduct product_of_parts(Modifiers& m) {
  PartProduct out;
  Product& product = out.product;
  const auto sum = [&] {
    return m.require<Type>("the elements of a sum",
                           {{"f16", Type::f16}, {"f32", Type::f32}, {"s32", Type::s32}, {"f64", Type::f64}});
  };
  const Type d = sum();
  const std::string next(m.peek());
  const bool of_halves = next == "f32" || next == "f16";
  if (!of_halves) {
    product.a = elements_of_factor(m);
    product.b = elements_of_factor(m);
    if (product.a != product.b) m.refuse("the factors have elements of different kinds", "give both the same");
    if (product.a == Factor::f16) m.refuse("a product of .f16 names its sums alone", "write .f32.f32 or .f16.f16");
  }
  const Type c = sum();
  out.half_c = c == Type::f16;
  out.half_d = d == Type::f16;
  product.half_sum = out.half_c && out.half_d;
  product.clamps = m.accept("satfinite");
  if (product.a == Factor::f64) static_cast<void>(m.accept("rn"));
  if (product.clamps && !of_integers(product.a)) m.refuse(".satfinite is for integers", "remove it");
  m.finish();
  const auto fits = [&](Type type) { return type == (of_halves ? Type::f32 : type_of_sum(product)); };
  for (const Type type : {d, c}) {
    if (!fits(type) && !(of_halves && type == Type::f16)) {
      m.refuse("the sum of such products is of " + dotted(type_of_sum(product)), "write that");
    }
  }
  return out;
}

// Pairs of halves as single precision.
std::vector<VReg> widened(Selector& s, const std::vector<VReg>& halves) {
  std::vector<VReg> out;
  for (const VReg pair : halves) {
    const VReg high = s.temp(Type::u32);
    s.emit(Op::SHR_U, high, Value::of(pair, Type::u32), Value::imm(16, Type::u32));
    for (const VReg half : {pair, high}) {
      out.push_back(s.temp(Type::f32));
      s.convert(out.back(), Type::f32, Value::of(half, Type::f16));
    }
  }
  return out;
}

// Numbers in single precision as a pair of halves.
void narrow(Selector& s, VReg to, VReg low, VReg high) {
  std::vector<VReg> halves;
  for (const VReg one : {low, high}) {
    halves.push_back(s.temp(Type::f16));
    s.convert(halves.back(), Type::f16, Value::of(one, Type::f32), isa::Rounding::rn);
  }
  constexpr std::uint32_t kHalves = 0x5410;
  s.emit(Op::PRMT, to, Value::of(halves[0], Type::b32), Value::of(halves[1], Type::b32),
         Value::imm(kHalves, Type::b32));
}

void multiply_parts(Selector& s, Modifiers& m) {
  m.expect("sync");
  m.expect("aligned");
  static_cast<void>(rows_first(m));
  static_cast<void>(rows_first(m));
  const WarpMatrixSize size = size_of_matrices(m);
  const PartProduct form = product_of_parts(m);
  const Product& product = form.product;
  const FactorPart part_a = part_of(m, size, product.a, true);
  const FactorPart part_b = part_of(m, size, product.b, false);
  s.expect_operands(4);
  const bool wide = product.a == Factor::f64;
  const WarpTiles tiles(size, wide);
  const Type of_sum = type_of_sum(product);
  const Type of_factors = wide ? Type::f64 : Type::b32;
  const unsigned of_tile = tiles.eights * (product.half_sum ? 1 : 2);
  const unsigned sums = of_tile * tiles.down * tiles.across;
  const auto sources = [&](std::size_t index, unsigned count, Type type, const char* what) {
    std::vector<VReg> out;
    for (const Operand* const element : registers_of(s, index, count, what)) {
      out.push_back(s.in_register(s.source(*element, type)));
    }
    return out;
  };
  const auto of_factor = [&](const FactorPart& part) {
    return product.a == Factor::f16 ? kHalfRegisters : part.registers();
  };
  const std::vector<VReg> a = sources(1, of_factor(part_a), of_factors, "a");
  const std::vector<VReg> b = sources(2, of_factor(part_b), of_factors, "b");
  const auto registers_of_sum = [&](bool half) { return half && !product.half_sum ? sums / 2 : sums; };
  std::vector<VReg> c = sources(3, registers_of_sum(form.half_c), form.half_c ? Type::b32 : of_sum, "c");
  std::vector<VReg> d;
  for (const Operand* const element : registers_of(s, 0, registers_of_sum(form.half_d), "d")) {
    const Type type = form.half_d ? Type::b32 : of_sum;
    const VReg reg = s.destination(*element, type);
    d.push_back(reg == kNone ? s.temp(type) : reg);
  }
  // A tile must not write what another one reads.
  bool own = form.half_c == form.half_d;
  for (std::size_t i = 0; i != d.size(); ++i) {
    const auto reads = [&](const std::vector<VReg>& list) {
      return std::find(list.begin(), list.end(), d[i]) != list.end();
    };
    own = own && !reads(a) && !reads(b) && (c[i] == d[i] || !reads(c));
  }
  s.guard_by_branch();
  take_all_lanes(s);
  std::vector<VReg> to = d;
  if (!own) {
    to.clear();
    for (unsigned i = 0; i != sums; ++i) to.push_back(s.temp(of_sum));
  }
  if (form.half_c && !product.half_sum) c = widened(s, c);
  const std::vector<VReg>& rows = tiles.swapped ? b : a;
  const std::vector<VReg>& columns = tiles.swapped ? a : b;
  const FactorPart& of_rows = tiles.swapped ? part_b : part_a;
  const FactorPart& of_columns = tiles.swapped ? part_a : part_b;
  const auto some = [](const std::vector<VReg>& list, std::size_t from, std::size_t count) {
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(from);
    return std::vector<VReg>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const unsigned row_registers = of_rows.deep * of_rows.eights;
  for (unsigned down = 0; down != tiles.down; ++down) {
    for (unsigned across = 0; across != tiles.across; ++across) {
      const std::size_t first = std::size_t{of_tile} * (down * tiles.across + across);
      multiply(s, product, wide ? 1 : row_registers, some(to, first, of_tile),
               some(rows, std::size_t{row_registers} * down, row_registers),
               some(columns, std::size_t{of_columns.deep} * across, of_columns.deep), some(c, first, of_tile));
    }
  }
  if (own) return;
  for (std::size_t i = 0; i != d.size(); ++i) {
    if (form.half_d && !product.half_sum) {
      narrow(s, d[i], to[2 * i], to[2 * i + 1]);
    } else {
      s.move(d[i], Value::of(to[i], of_sum));
    }
  }
}

void lower_wmma(Selector& s) {
  Modifiers m = s.modifiers();
  enum class Kind { load, store, mma };
  switch (m.require<Kind>("what is to be done", {{"load", Kind::load}, {"store", Kind::store}, {"mma", Kind::mma}})) {
    case Kind::load:
      return load_warp_matrix(s, m);
    case Kind::store:
      return store_warp_matrix(s, m);
    case Kind::mma:
      return multiply_parts(s, m);
  }
}

constexpr std::array kWarpMatrixHandlers = {Handler{"wmma", lower_wmma}};

}  // namespace

std::span<const Handler> warp_matrix_handlers() {
  return kWarpMatrixHandlers;
}

}  // namespace heddle::ptx
