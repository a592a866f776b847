// Matrices that the lanes of a warp hold in parts: mma, ldmatrix (PTX ISA, "Matrix multiply-accumulate operation using
// mma instruction" and "Warp-level matrix load instruction").
#include "ptx/lower/matrix.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {

using isa::Factor;
using isa::Op;

void take_all_lanes(Selector& s) {
  s.note_warp_operation();
  s.wait_for_lanes(Value::imm(kEveryLane, Type::b32));
}

std::vector<const Operand*> registers_of(Selector& s, std::size_t index, unsigned count, const char* what) {
  const Operand& operand = s.operand(index);
  std::vector<const Operand*> out;
  if (operand.kind == Operand::Kind::vector) {
    for (const Operand& element : operand.elements) out.push_back(&element);
  } else {
    out.push_back(&operand);
  }
  if (out.size() != count) {
    s.refuse(operand.at,
             std::string(what) + " has " + std::to_string(count) + (count == 1 ? " register" : " registers") +
                 " in each lane, and " + std::to_string(out.size()) + (out.size() == 1 ? " stands" : " stand") +
                 " here",
             "write as many");
  }
  return out;
}

Factor elements_of_factor(Modifiers& m) {
  return m.require<Factor>("the elements of a factor", {{"f16", Factor::f16},
                                                        {"bf16", Factor::bf16},
                                                        {"tf32", Factor::tf32},
                                                        {"s8", Factor::s8},
                                                        {"u8", Factor::u8},
                                                        {"f64", Factor::f64}});
}

bool of_integers(Factor of) {
  return of == Factor::s8 || of == Factor::u8;
}

Type type_of_sum(const Product& product) {
  if (of_integers(product.a)) return Type::s32;
  return product.a == Factor::f64 ? Type::f64 : product.half_sum ? Type::b32 : Type::f32;
}

namespace {

void expect_type_of_sum(Modifiers& m, const Product& product) {
  m.expect(product.half_sum ? "f16" : isa::name_of(type_of_sum(product)));
}

// How many registers of a have the rows and columns that the size names. One of f64 is as m8n8k4, with more parts.
std::optional<unsigned> parts_of(const Product& product, const std::string& size) {
  const unsigned most = product.a == Factor::f64 ? 8 : 4;
  for (unsigned parts = 1; parts <= most; parts *= 2) {
    const unsigned rows = parts == 1 ? 8 : 16;
    const unsigned depth = 4 * isa::elements_per_register(product.a) * (parts == 1 ? 1 : parts / 2);
    const bool there = parts > 1 || product.a == Factor::f64 || of_integers(product.a);
    if (there && size == "m" + std::to_string(rows) + "n8k" + std::to_string(depth)) return parts;
  }
  return std::nullopt;
}

Product product_of(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("sync");
  m.expect("aligned");
  const std::string size(m.peek());
  static_cast<void>(m.accept(size));
  m.expect("row");
  m.expect("col");
  Product product;
  product.clamps = m.accept("satfinite");
  const std::string sum(m.peek());
  static_cast<void>(m.accept(sum));
  product.half_sum = sum == "f16";
  product.a = elements_of_factor(m);
  product.b = elements_of_factor(m);
  const bool one_kind = product.a == product.b || (of_integers(product.a) && of_integers(product.b));
  if (!one_kind) m.refuse("the factors have elements of different kinds", "give both the same");
  if (product.half_sum && product.a != Factor::f16) m.refuse("only products of .f16 have a sum of .f16", "write .f32");
  if (product.clamps && !of_integers(product.a)) m.refuse(".satfinite is for integers", "remove it");
  if (!product.half_sum && sum != isa::name_of(type_of_sum(product))) {
    m.refuse("the sum of such products is of " + dotted(type_of_sum(product)), "write that where ." + sum + " stands");
  }
  expect_type_of_sum(m, product);
  m.finish();
  const auto parts = parts_of(product, size);
  if (!parts) {
    m.refuse("." + size + " is no size of matrices of these elements here",
             "m16n8k8 and m16n8k16 are there for .f16 and .bf16, m16n8k4 and m16n8k8 for .tf32, m8n8k16, m16n8k16 and "
             "m16n8k32 for .s8 and .u8, m8n8k4 and m16n8k4 to k16 for .f64");
  }
  product.parts = *parts;
  return product;
}

}  // namespace

void multiply(Selector& s, const Product& product, unsigned parts, const std::vector<VReg>& d,
              const std::vector<VReg>& a, const std::vector<VReg>& b, const std::vector<VReg>& c) {
  IrInstruction instruction;
  instruction.op = Op::MMA;
  instruction.mods = isa::mma_mods(product.a, product.b, parts, product.half_sum, product.clamps);
  for (const auto* const list : {&d, &a, &b, &c}) {
    instruction.elements.insert(instruction.elements.end(), list->begin(), list->end());
  }
  s.write(std::move(instruction));
}

namespace {

void lower_mma(Selector& s) {
  const Product product = product_of(s);
  s.expect_operands(4);
  const bool wide = product.a == Factor::f64;
  const Type of_factors = wide ? Type::f64 : Type::b32;
  const Type of_sum = type_of_sum(product);
  const unsigned rows = product.parts == 1 ? 1 : 2;  // eights
  const unsigned depth = product.parts == 1 ? 1 : product.parts / 2;
  const unsigned sums = rows * (product.half_sum ? 1 : 2);
  const auto sources = [&](std::size_t index, unsigned count, Type type, const char* what) {
    std::vector<VReg> out;
    for (const Operand* const element : registers_of(s, index, count, what)) {
      out.push_back(s.in_register(s.source(*element, type)));
    }
    return out;
  };
  const std::vector<VReg> a = sources(1, product.parts, of_factors, "a");
  const std::vector<VReg> b = sources(2, depth, of_factors, "b");
  std::vector<VReg> c = sources(3, sums, of_sum, "c");
  std::vector<VReg> d;
  for (const Operand* const element : registers_of(s, 0, sums, "d")) {
    const VReg reg = s.destination(*element, of_sum);
    d.push_back(reg == kNone ? s.temp(of_sum) : reg);
  }
  take_all_lanes(s);
  if (!wide) {
    multiply(s, product, product.parts, d, a, b, c);
    return;
  }
  // Eight rows and four columns of a at a time; each sum is read before any is written.
  std::vector<VReg> sum;
  for (std::size_t i = 0; i < c.size(); ++i) sum.push_back(s.temp(of_sum));
  for (unsigned k = 0; k < depth; ++k) {
    for (unsigned row = 0; row < rows; ++row) {
      const std::size_t first = std::size_t{2} * row;
      const std::vector<VReg> to = {sum[first], sum[first + 1]};
      multiply(s, product, 1, to, {a[2 * k * (rows - 1) + row]}, {b[k]}, {c[first], c[first + 1]});
      c[first] = sum[first];
      c[first + 1] = sum[first + 1];
    }
  }
  for (std::size_t i = 0; i < d.size(); ++i) s.move(d[i], Value::of(sum[i], of_sum));
}

// What ldmatrix and stmatrix say of the matrices.
struct InMemory {
  unsigned count = 0;
  bool transposed = false;
};
InMemory matrices_in_memory(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("sync");
  m.expect("aligned");
  if (m.peek() == "m16n16" || m.peek() == "m8n16" || m.peek() == "m16n8") {
    m.refuse("matrices have eight rows of 16 bytes here", "write .m8n8");
  }
  InMemory out;
  m.expect("m8n8");
  out.count = m.require<unsigned>("how many matrices", {{"x1", 1U}, {"x2", 2U}, {"x4", 4U}});
  out.transposed = m.accept("trans");
  if (!m.accept("shared") && !m.accept("shared::cta")) {
    m.refuse("the matrices must be in shared memory", "write .shared, with an address that cvta.to.shared has made");
  }
  m.type({Type::b16});
  m.finish();
  s.expect_operands(2);
  return out;
}

void lower_ldmatrix(Selector& s) {
  const auto [count, transposed] = matrices_in_memory(s);
  const Selector::Address from = s.address(s.operand(1), isa::Space::shared, 16);
  IrInstruction instruction;
  instruction.op = Op::LD_MATRIX;
  instruction.a = from.base;
  instruction.immediate = true;
  instruction.imm = static_cast<std::uint32_t>(from.offset);
  instruction.sub = isa::ldmatrix_sub(count, transposed);
  for (const Operand* const element : registers_of(s, 0, count, "the destination")) {
    const VReg reg = s.destination(*element, Type::b32);
    instruction.elements.push_back(reg == kNone ? s.temp(Type::b32) : reg);
  }
  take_all_lanes(s);
  s.write(std::move(instruction));
}

// Where a lane's elements are in a matrix of eight rows of eight, two elements of 16 bits in each lane's register.
struct Element {
  VReg row = kNone;   // lane / 4
  VReg pair = kNone;  // lane % 4: of the pairs in the row
};
Element element_of(Selector& s) {
  const VReg lane = s.temp(Type::u32);
  s.special(lane, isa::Special::laneid, false);
  Element at{s.temp(Type::u32), s.temp(Type::u32)};
  s.emit(Op::SHR_U, at.row, Value::of(lane, Type::u32), Value::imm(2, Type::u32));
  s.emit(Op::AND, at.pair, Value::of(lane, Type::u32), Value::imm(3, Type::u32));
  return at;
}

// What lane number `lane` has in `from`.
VReg from_lane(Selector& s, VReg from, VReg lane) {
  IrInstruction instruction;
  instruction.op = Op::SHFL_IDX;
  instruction.dst = s.temp(Type::b32);
  instruction.a = from;
  instruction.b = lane;
  instruction.c = s.in_register(Value::imm(31, Type::u32));
  const VReg got = instruction.dst;
  s.write(std::move(instruction));
  return got;
}

// The lane's part of the transposed matrix: elements (2 pair, row) and (2 pair + 1, row) of it, which lanes 8 pair +
// row / 2 and four further have, in the halves that row % 2 says.
void transpose(Selector& s, const Element& at, VReg to, VReg from) {
  const VReg half_row = s.temp(Type::u32);
  s.emit(Op::SHR_U, half_row, Value::of(at.row, Type::u32), Value::imm(1, Type::u32));
  const VReg first = s.temp(Type::u32);
  s.emit(Op::MAD_LO, first, Value::of(at.pair, Type::u32), Value::imm(8, Type::u32), Value::of(half_row, Type::u32));
  const VReg second = s.temp(Type::u32);
  s.emit(Op::ADD, second, Value::of(first, Type::u32), Value::imm(4, Type::u32));
  const VReg odd = s.temp(Type::u32);
  s.emit(Op::AND, odd, Value::of(at.row, Type::u32), Value::imm(1, Type::u32));
  const VReg halves = s.temp(Type::u32);
  s.emit(Op::MAD_LO, halves, Value::of(odd, Type::u32), Value::imm(0x2222, Type::u32),
         Value::of(s.in_register(Value::imm(0x5410, Type::u32)), Type::u32));
  const VReg a = from_lane(s, from, first);
  const VReg b = from_lane(s, from, second);
  s.emit(Op::PRMT, to, Value::of(a, Type::b32), Value::of(b, Type::b32), Value::of(halves, Type::b32));
}

// movmatrix: two exchanges between lanes.
void lower_movmatrix(Selector& s) {
  Modifiers m = s.modifiers();
  for (const char* const word : {"sync", "aligned", "m8n8", "trans"}) m.expect(word);
  m.type({Type::b16});
  m.finish();
  s.expect_operands(2);
  const VReg from = s.in_register(s.source(s.operand(1), Type::b32));
  s.guard_by_branch();
  take_all_lanes(s);
  transpose(s, element_of(s), s.destination(s.operand(0), Type::b32), from);
}

// stmatrix: for each matrix every lane gets its row's address from the lane that has it, and stores its two elements.
void lower_stmatrix(Selector& s) {
  const auto [count, transposed] = matrices_in_memory(s);
  s.guard_by_branch();
  const Selector::Address to = s.address(s.operand(0), isa::Space::shared, 16);
  std::vector<VReg> parts;
  for (const Operand* const element : registers_of(s, 1, count, "the source")) {
    parts.push_back(s.in_register(s.source(*element, Type::b32)));
  }
  take_all_lanes(s);
  const Element at = element_of(s);
  const VReg row = s.temp(Type::u32);
  s.emit(Op::ADD, row, Value::of(to.base, Type::u32), Value::imm(static_cast<std::uint32_t>(to.offset), Type::u32));
  for (unsigned matrix = 0; matrix != count; ++matrix) {
    VReg part = parts[matrix];
    if (transposed) {
      const VReg turned = s.temp(Type::b32);
      transpose(s, at, turned, part);
      part = turned;
    }
    const VReg holder = s.temp(Type::u32);
    s.emit(Op::ADD, holder, Value::of(at.row, Type::u32), Value::imm(8 * matrix, Type::u32));
    const VReg place = s.temp(Type::u32);
    s.emit(Op::MAD_LO, place, Value::of(at.pair, Type::u32), Value::imm(4, Type::u32),
           Value::of(from_lane(s, row, holder), Type::u32));
    IrInstruction store;
    store.op = Op::ST_SHARED;
    store.a = place;
    store.immediate = true;
    store.sub = isa::memory_sub(isa::Width::b32, 1);
    store.elements = {part};
    s.write(std::move(store));
  }
}

constexpr std::array kMatrixHandlers = {Handler{"mma", lower_mma}, Handler{"ldmatrix", lower_ldmatrix},
                                        Handler{"stmatrix", lower_stmatrix}, Handler{"movmatrix", lower_movmatrix}};

}  // namespace

std::span<const Handler> matrix_handlers() {
  return kMatrixHandlers;
}

}  // namespace heddle::ptx
