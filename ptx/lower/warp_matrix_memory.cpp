// wmma.load and wmma.store: where in memory the elements are that a lane holds.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ptx/lower/matrix.hpp"
#include "ptx/lower/memory_modifiers.hpp"
#include "ptx/lower/warp_matrix.hpp"

namespace heddle::ptx {

using isa::Factor;
using isa::Op;
using isa::Space;

namespace {

constexpr unsigned kFarther = 8;  // rows or columns between those that a lane holds one behind the other

// Memory whose rows are `stride` elements apart, as one lane sees it: from an element of its own on.
class LaneRows {
 public:
  struct Origin {
    Value row;           // of the lane's element, times the bytes of an element
    unsigned row_scale;  // by which `row` is still to be multiplied
    Value byte;          // within the row
  };

  LaneRows(Selector& s, const Operand& address, Space space, unsigned bytes, const Value& stride, const Origin& origin)
      : s_(s), bytes_(bytes), stride_(stride), at_(s.flat_address(address, space)) {
    const VReg row = s.temp(Type::u32);
    s.emit(Op::MUL_LO, row, origin.row, Value::imm(origin.row_scale, Type::u32));
    const VReg offset = s.temp(Type::u32);
    s.emit(Op::MAD_LO, offset, Value::of(row, Type::u32), stride, origin.byte);
    at_.base = moved(offset);
  }

  [[nodiscard]] Space space() const { return at_.space; }
  [[nodiscard]] bool wide() const { return at_.wide; }

  struct Place {
    VReg base;
    std::uint32_t offset;
  };
  // The element so many rows and elements behind the lane's own.
  Place at(unsigned row, unsigned element) {
    if (row == 0) return {at_.base, element * bytes_};
    if (const auto found = rows_.find(row); found != rows_.end()) return {found->second, element * bytes_};
    const VReg offset = s_.temp(Type::u32);
    s_.emit(Op::MUL_LO, offset, stride_, Value::imm(row * bytes_, Type::u32));
    const VReg base = moved(offset);
    rows_[row] = base;
    return {base, element * bytes_};
  }

 private:
  // The lane's address and `offset`.
  VReg moved(VReg offset) {
    const Type type = at_.wide ? Type::u64 : Type::u32;
    VReg more = offset;
    if (at_.wide) {
      more = s_.temp(type);
      s_.pack(more, offset, kNone);
    }
    if (at_.base == kNone) return more;
    const VReg sum = s_.temp(type);
    s_.emit(at_.wide ? Op::ADD64 : Op::ADD, sum, Value::of(at_.base, type), Value::of(more, type));
    return sum;
  }

  Selector& s_;
  unsigned bytes_;
  Value stride_;
  Selector::Address at_;
  std::map<unsigned, VReg> rows_;
};

isa::Width width_of_bytes(unsigned bytes) {
  return bytes == 1 ? isa::Width::u8 : bytes == 2 ? isa::Width::u16 : bytes == 4 ? isa::Width::b32 : isa::Width::b64;
}

void move_elements(Selector& s, const SpaceOps& ops, bool wide, const LaneRows::Place& place, unsigned bytes,
                   std::vector<VReg> registers) {
  IrInstruction instruction;
  instruction.op = wide ? ops.far : ops.near;
  instruction.a = place.base;
  instruction.immediate = true;
  instruction.imm = place.offset;
  instruction.sub = isa::memory_sub(width_of_bytes(bytes), static_cast<unsigned>(registers.size()));
  instruction.elements = std::move(registers);
  s.write(std::move(instruction));
}

// One register of elements that do not lie side by side.
void gather(Selector& s, LaneRows& rows, unsigned row, unsigned element, const FactorPart& part, VReg to) {
  const SpaceOps ops = load_ops(rows.space(), false);
  std::vector<VReg> loaded;
  for (unsigned i = 0; i != part.per; ++i) {
    loaded.push_back(part.per == 1 ? to : s.temp(Type::b32));
    move_elements(s, ops, rows.wide(), rows.at(row + i, element), part.bytes, {loaded.back()});
  }
  const auto join = [&](VReg dst, VReg low, VReg high, std::uint32_t bytes) {
    s.emit(Op::PRMT, dst, Value::of(low, Type::b32), Value::of(high, Type::b32), Value::imm(bytes, Type::b32));
  };
  constexpr std::uint32_t kHalves = 0x5410;
  constexpr std::uint32_t kBytes = 0x0040;
  if (part.per == 2) join(to, loaded[0], loaded[1], kHalves);
  if (part.per == 4) {
    const VReg low = s.temp(Type::b32);
    const VReg high = s.temp(Type::b32);
    join(low, loaded[0], loaded[1], kBytes);
    join(high, loaded[2], loaded[3], kBytes);
    join(to, low, high, kHalves);
  }
}

struct Lane {
  Value group, place;  // lane / 4, lane % 4
};
Lane lane_of(Selector& s) {
  const VReg lane = s.temp(Type::u32);
  s.special(lane, isa::Special::laneid, false);
  const VReg group = s.temp(Type::u32);
  const VReg place = s.temp(Type::u32);
  s.emit(Op::SHR_U, group, Value::of(lane, Type::u32), Value::imm(2, Type::u32));
  s.emit(Op::AND, place, Value::of(lane, Type::u32), Value::imm(3, Type::u32));
  return {Value::of(group, Type::u32), Value::of(place, Type::u32)};
}

Value scaled(Selector& s, const Value& value, unsigned by) {
  const VReg out = s.temp(Type::u32);
  s.emit(Op::MUL_LO, out, value, Value::imm(by, Type::u32));
  return Value::of(out, Type::u32);
}

// A factor in shared memory, by ldmatrix, up to four registers at once. The lanes name rows of 16 bytes, eight for each
// register; where elements of a line do not lie side by side the rows are of several lines, and the matrices are
// transposed.
void load_rows(Selector& s, const Operand& address, const FactorPart& part, const Value& stride, bool side_by_side,
               const std::vector<VReg>& to) {
  constexpr unsigned kMost = 4;  // registers of an operation
  const auto count = std::min<unsigned>(kMost, static_cast<unsigned>(to.size()));
  const VReg lane = s.temp(Type::u32);
  s.special(lane, isa::Special::laneid, false);
  // Where register i is, so that a bit of i is worth as many lines or elements, whatever the others are.
  struct At {
    unsigned line, depth;
  };
  const auto place_of = [&](unsigned i) {
    const unsigned of_tile = part.deep * part.eights;
    const unsigned j = i % of_tile;
    return At{kFarther * (part.eights * (i / of_tile) + j % part.eights), 4 * part.per * (j / part.eights)};
  };
  const auto masked = [&](unsigned bits) {
    const VReg some = s.temp(Type::u32);
    s.emit(Op::AND, some, Value::of(lane, Type::u32), Value::imm(bits, Type::u32));
    return Value::of(some, Type::u32);
  };
  // What the bits of the lane's register are worth, and the row within it where that is `of_row`.
  const auto sum_of = [&](unsigned At::*what, bool of_row) {
    std::optional<Value> sum;
    if (of_row) sum = masked(7);
    for (unsigned bit = 1; bit != count; bit *= 2) {
      const unsigned worth = place_of(bit).*what;
      if (worth == 0) continue;
      const VReg has = s.temp(Type::u32);
      s.emit(Op::SHR_U, has, masked(8 * bit), Value::imm(static_cast<unsigned>(std::countr_zero(8 * bit)), Type::u32));
      const VReg next = s.temp(Type::u32);
      if (sum) {
        s.emit(Op::MAD_LO, next, Value::of(has, Type::u32), Value::imm(worth, Type::u32), *sum);
      } else {
        s.emit(Op::MUL_LO, next, Value::of(has, Type::u32), Value::imm(worth, Type::u32));
      }
      sum = Value::of(next, Type::u32);
    }
    return sum;
  };
  unsigned At::*const rows = side_by_side ? &At::line : &At::depth;
  unsigned At::*const elements = side_by_side ? &At::depth : &At::line;
  const Value row = *sum_of(rows, true);
  const std::optional<Value> element = sum_of(elements, false);
  LaneRows memory(s, address, Space::shared, part.bytes, stride,
                  {row, part.bytes, element ? scaled(s, *element, part.bytes) : Value::of(kNone, Type::u32)});
  for (unsigned first = 0; first != to.size(); first += count) {
    const At at = place_of(first);
    const LaneRows::Place place = memory.at(at.*rows, at.*elements);
    IrInstruction instruction;
    instruction.op = Op::LD_MATRIX;
    instruction.a = place.base;
    instruction.immediate = true;
    instruction.imm = place.offset;
    instruction.sub = isa::ldmatrix_sub(count, !side_by_side);
    instruction.elements.assign(to.begin() + first, to.begin() + first + count);
    s.write(std::move(instruction));
  }
}

// What the end of a load or store has: the space, and the elements behind it.
Space space_of_matrix(Modifiers& m) {
  const Space space = space_modifier(m);
  if (space != Space::generic && space != Space::global && space != Space::shared) {
    m.refuse("matrices are in global or shared memory", "write .global, .shared or neither");
  }
  return space;
}

// Elements from one row to the next.
Value stride_of(Selector& s, std::size_t index, unsigned usual) {
  return s.operand_count() > index ? s.source(s.operand(index), Type::u32) : Value::imm(usual, Type::u32);
}

void load_factor(Selector& s, Modifiers& m, bool is_a) {
  m.expect("sync");
  m.expect("aligned");
  const bool rows = rows_first(m);
  const WarpMatrixSize size = size_of_matrices(m);
  const Space space = space_of_matrix(m);
  const Factor of = elements_of_factor(m);
  m.finish();
  const FactorPart part = part_of(m, size, of, is_a);
  s.expect_operands(2, 3);
  const bool wide = of == Factor::f64;
  const bool side_by_side = rows == is_a;
  const Value stride = stride_of(s, 2, side_by_side ? size.k : is_a ? size.m : size.n);
  const unsigned registers = of == Factor::f16 ? kHalfRegisters : part.registers();
  std::vector<VReg> to;
  for (const Operand* const element : registers_of(s, 0, registers, "the matrix")) {
    const Type type = wide ? Type::f64 : Type::b32;
    const VReg reg = s.destination(*element, type);
    to.push_back(reg == kNone ? s.temp(type) : reg);
  }
  s.guard_by_branch();
  take_all_lanes(s);
  for (std::size_t i = part.registers(); i < to.size(); ++i) s.move(to[i], Value::imm(0, Type::b32));
  to.resize(part.registers());
  if (space == Space::shared && !wide && (side_by_side || part.bytes == 2)) {
    load_rows(s, s.operand(1), part, stride, side_by_side, to);
    return;
  }
  const Lane lane = lane_of(s);
  const unsigned step = part.per * part.bytes;
  LaneRows memory(s, s.operand(1), space, part.bytes, stride,
                  side_by_side ? LaneRows::Origin{lane.group, part.bytes, scaled(s, lane.place, step)}
                               : LaneRows::Origin{lane.place, step, scaled(s, lane.group, part.bytes)});
  const SpaceOps ops = load_ops(memory.space(), false);
  std::size_t next = 0;
  for (unsigned tile = 0; tile != part.count; ++tile) {
    for (unsigned j = 0; j != part.deep * part.eights; ++j) {
      const unsigned line = kFarther * (part.eights * tile + j % part.eights);
      const unsigned depth = 4 * part.per * (j / part.eights);
      if (side_by_side) {
        move_elements(s, ops, memory.wide(), memory.at(line, depth), step, {to[next]});
      } else {
        gather(s, memory, depth, line, part, to[next]);
      }
      ++next;
    }
  }
}

// A sum's part: pairs of columns side by side, one register where they are halves.
struct SumForm {
  WarpMatrixSize size;
  bool rows = true;  // lie side by side in memory
  Space space = Space::generic;
  Type type = Type::f32;
  unsigned bytes = 4;

  [[nodiscard]] bool half() const { return type == Type::f16; }
  [[nodiscard]] Type in_register() const { return half() ? Type::b32 : type; }
  [[nodiscard]] WarpTiles tiles() const { return {size, type == Type::f64}; }
  [[nodiscard]] unsigned registers() const {
    const WarpTiles t = tiles();
    return t.down * t.across * t.eights * (half() ? 1 : 2);
  }
};

SumForm sum_form(Modifiers& m) {
  SumForm form;
  m.expect("sync");
  m.expect("aligned");
  form.rows = rows_first(m);
  form.size = size_of_matrices(m);
  form.space = space_of_matrix(m);
  form.type = m.type({Type::f16, Type::f32, Type::s32, Type::f64});
  form.bytes = isa::size_of(form.type);
  m.finish();
  if ((form.type == Type::f64) != (form.size.k == 4)) {
    m.refuse("this is no size of matrices of these elements", "sums of .f64 are of m8n8k4, and no others");
  }
  return form;
}

LaneRows memory_of_sum(Selector& s, const SumForm& form, const Operand& address, const Value& stride) {
  const bool side_by_side = form.rows != form.tiles().swapped;
  const Lane lane = lane_of(s);
  return {s,
          address,
          form.space,
          form.bytes,
          stride,
          side_by_side ? LaneRows::Origin{lane.group, form.bytes, scaled(s, lane.place, 2 * form.bytes)}
                       : LaneRows::Origin{lane.place, 2 * form.bytes, scaled(s, lane.group, form.bytes)}};
}

// For each pair of a part's elements: its first register, its row and its column behind the lane's own.
template <class Do>
void each_pair(const SumForm& form, const Do& task) {
  const WarpTiles tiles = form.tiles();
  std::size_t first = 0;
  for (unsigned down = 0; down != tiles.down; ++down) {
    for (unsigned across = 0; across != tiles.across; ++across) {
      for (unsigned half = 0; half != tiles.eights; ++half) {
        task(first, kFarther * (tiles.eights * down + half), kFarther * across);
        first += form.half() ? 1 : 2;
      }
    }
  }
}

void load_sum(Selector& s, Modifiers& m) {
  const SumForm form = sum_form(m);
  s.expect_operands(2, 3);
  const Value stride = stride_of(s, 2, form.rows ? form.size.n : form.size.m);
  std::vector<VReg> to;
  for (const Operand* const element : registers_of(s, 0, form.registers(), "the matrix")) {
    const VReg reg = s.destination(*element, form.in_register());
    to.push_back(reg == kNone ? s.temp(form.in_register()) : reg);
  }
  s.guard_by_branch();
  take_all_lanes(s);
  LaneRows memory = memory_of_sum(s, form, s.operand(1), stride);
  const SpaceOps ops = load_ops(memory.space(), false);
  const bool side_by_side = form.rows != form.tiles().swapped;
  const FactorPart halves{2, 2, 1, 1, 1};
  each_pair(form, [&](std::size_t first, unsigned row, unsigned column) {
    if (form.half() && side_by_side) {
      move_elements(s, ops, memory.wide(), memory.at(row, column), 4, {to[first]});
    } else if (form.half()) {
      gather(s, memory, column, row, halves, to[first]);
    } else if (side_by_side) {
      move_elements(s, ops, memory.wide(), memory.at(row, column), form.bytes, {to[first], to[first + 1]});
    } else {
      for (unsigned j = 0; j != 2; ++j) {
        move_elements(s, ops, memory.wide(), memory.at(column + j, row), form.bytes, {to[first + j]});
      }
    }
  });
}

void store_sum(Selector& s, Modifiers& m) {
  m.expect("d");
  const SumForm form = sum_form(m);
  s.expect_operands(2, 3);
  const Value stride = stride_of(s, 2, form.rows ? form.size.n : form.size.m);
  std::vector<VReg> from;
  for (const Operand* const element : registers_of(s, 1, form.registers(), "the matrix")) {
    const Value value = s.source(*element, form.in_register());
    VReg reg = s.in_register(value);
    if (reg == kNone && is_wide(form.type)) {  // a stored pair needs registers of its own
      reg = s.temp(form.type);
      s.move(reg, value);
    }
    from.push_back(reg);
  }
  s.guard_by_branch();
  take_all_lanes(s);
  LaneRows memory = memory_of_sum(s, form, s.operand(0), stride);
  const SpaceOps ops = store_ops(s, memory.space());
  const bool side_by_side = form.rows != form.tiles().swapped;
  each_pair(form, [&](std::size_t first, unsigned row, unsigned column) {
    if (form.half() && side_by_side) {
      move_elements(s, ops, memory.wide(), memory.at(row, column), 4, {from[first]});
    } else if (side_by_side) {
      move_elements(s, ops, memory.wide(), memory.at(row, column), form.bytes, {from[first], from[first + 1]});
    } else {
      VReg high = form.half() ? s.temp(Type::b32) : from[first + 1];
      if (form.half()) s.emit(Op::SHR_U, high, Value::of(from[first], Type::u32), Value::imm(16, Type::u32));
      move_elements(s, ops, memory.wide(), memory.at(column, row), form.bytes, {from[first]});
      move_elements(s, ops, memory.wide(), memory.at(column + 1, row), form.bytes, {high});
    }
  });
}

}  // namespace

void load_warp_matrix(Selector& s, Modifiers& m) {
  switch (m.require<char>("which matrix is loaded", {{"a", 'a'}, {"b", 'b'}, {"c", 'c'}})) {
    case 'a':
      return load_factor(s, m, true);
    case 'b':
      return load_factor(s, m, false);
    default:
      return load_sum(s, m);
  }
}

void store_warp_matrix(Selector& s, Modifiers& m) {
  store_sum(s, m);
}

}  // namespace heddle::ptx
