// Addresses: [register + offset], [symbol + offset], [constant] in their spaces.
#include <limits>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

bool fits_offset(std::int64_t offset) {
  return offset >= std::numeric_limits<std::int32_t>::min() && offset <= std::numeric_limits<std::int32_t>::max();
}

std::string_view name_of(isa::Space space) {
  switch (space) {
    case isa::Space::global:
      return ".global";
    case isa::Space::shared:
      return ".shared";
    case isa::Space::local:
      return ".local";
    case isa::Space::constant:
      return ".const";
    case isa::Space::param:
      return ".param";
    case isa::Space::generic:
      break;
  }
  return "generic";
}

}  // namespace

Selector::Address Selector::address(const Operand& operand, isa::Space space, unsigned bytes) {
  if (operand.kind != Operand::Kind::address) {
    refuse(operand.at, "an address is expected here", "write it in brackets: [register + offset] or [symbol]");
  }
  Address result;
  result.space = space;
  std::int64_t offset = operand.offset;
  const bool far = space == isa::Space::global || space == isa::Space::generic;
  if (operand.base_is_register) {
    const Type is = declared(operand.reg);
    if (is_float(is) || is == Type::pred || isa::size_of(is) < 4) {
      refuse(operand.at, "a register of type " + dotted(is) + " holds no address",
             "use a register of type " + dotted(address_type()));
    }
    // A kernel's parameters have addresses of their own space; parameters of an inlined function are in local memory.
    if (space == isa::Space::param && !in_entry()) result.space = isa::Space::local;
    result.base = vreg(operand.reg);
    if (is_wide(is)) {
      result.wide = far && address_size() == 64;
      if (!result.wide) result.base = low_half(result.base);
    }
    if (!fits_offset(offset)) {
      const Type type = result.wide ? Type::u64 : Type::u32;
      const VReg sum = temp(type);
      const auto bits = static_cast<std::uint64_t>(offset);
      emit(result.wide ? isa::Op::ADD64 : isa::Op::ADD, sum, Value::of(result.base, type), Value::imm(bits, type));
      result.base = sum;
      offset = 0;
    }
    result.offset = static_cast<std::int32_t>(offset);
    return result;
  }
  if (!operand.name.empty()) {
    const Resolved symbol = resolve(operand.name, operand.at);
    const bool parameter = symbol.slot != nullptr || symbol.entry != nullptr;
    const bool agree = parameter ? space == isa::Space::param : space == isa::Space::generic || space == symbol.space;
    if (!agree) {
      refuse(operand.at,
             "'" + operand.name + "' is in the " + std::string(parameter ? ".param" : name_of(symbol.space)) +
                 " space, and the access is " + std::string(name_of(space)),
             "access it in its own space");
    }
    const std::uint64_t size = symbol.entry != nullptr  ? symbol.entry->size
                               : symbol.slot != nullptr ? symbol.slot->size
                                                        : std::uint64_t{0};
    if (parameter && (offset < 0 || static_cast<std::uint64_t>(offset) + bytes > size)) {
      refuse(operand.at,
             "the access of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                 " lies outside parameter '" + operand.name + "' of " + std::to_string(size) + " bytes",
             "correct the offset or the type");
    }
    result.space = symbol.space;
    if (symbol.slot != nullptr && !symbol.slot->in_memory) {
      if (offset != 0) {
        refuse(operand.at, "a part of the scalar parameter '" + operand.name + "' is accessed",
               "declare it as an array of .b8");
      }
      result.slot = symbol.slot;
      return result;
    }
    if (symbol.base != kNone) {
      result.base = symbol.base;
      result.offset = static_cast<std::int32_t>(offset + static_cast<std::int64_t>(symbol.address));
      return result;
    }
    offset += static_cast<std::int64_t>(symbol.address);
  }
  if (fits_offset(offset) && offset >= 0) {
    result.offset = static_cast<std::int32_t>(offset);
    return result;
  }
  result.wide = far && address_size() == 64;
  const Type type = result.wide ? Type::u64 : Type::u32;
  const std::uint64_t bits = static_cast<std::uint64_t>(offset) & (result.wide ? ~std::uint64_t{0} : 0xffffffffU);
  result.base = in_register(Value::imm(bits, type));
  return result;
}

Selector::Address Selector::flat_address(const Operand& operand, isa::Space space) {
  Address result = address(operand, space);
  if (result.offset == 0) return result;
  const Type type = result.wide ? Type::u64 : Type::u32;
  const VReg sum = temp(type);
  const Value offset = Value::imm(static_cast<std::uint64_t>(std::int64_t{result.offset}), type);
  if (result.base == kNone) {
    move(sum, offset);
  } else {
    emit(result.wide ? isa::Op::ADD64 : isa::Op::ADD, sum, Value::of(result.base, type), offset);
  }
  result.base = sum;
  result.offset = 0;
  return result;
}

}  // namespace heddle::ptx
