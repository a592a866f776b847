#include "ptx/parse/initializer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "ptx/parse/constant.hpp"

namespace heddle::ptx {

namespace {

constexpr std::uint64_t kMaxInitializedBytes = std::uint64_t{64} << 20U;  // in one file

bool is_float(isa::Type type) {
  return type == isa::Type::f16 || type == isa::Type::f32 || type == isa::Type::f64;
}

class Initializer {
 public:
  Initializer(TokenStream& in, const SymbolTable& symbols, const std::vector<std::uint64_t>& sizes, bool open,
              VariableDecl& decl, std::uint64_t& total)
      : in_(in), symbols_(symbols), decl_(decl), total_(total), size_(isa::size_of(decl.type)), open_(open) {
    // strides_[d]: scalars in one element of dimension d; the vector is one more dimension.
    std::vector<std::uint64_t> extents(sizes);
    if (decl.vector > 1) {
      extents.push_back(decl.vector);
    }
    strides_.assign(extents.size(), 1);
    for (std::size_t d = extents.size(); d-- > 1;) {
      strides_[d - 1] = strides_[d] * extents[d];
    }
    scalars_ = decl.count * decl.vector;  // of one element of an open first dimension
  }

  void run() {
    const Token first = in_.current();
    std::uint64_t used = 0;
    if (in_.at("{")) {
      used = list(0, 0, open_ ? kMaxInitializedBytes : scalars_);
    } else {
      if (!strides_.empty()) {
        in_.fail_expected("'{' at the beginning of the initial value of an array or vector");
      }
      scalar(0);
    }
    if (open_) {
      const std::uint64_t rows = (used + strides_[0] - 1) / strides_[0];
      if (rows == 0) {
        in_.fail(first, "the initial value gives the array no size", "write the size or a value");
      }
      decl_.count *= rows;
      scalars_ *= rows;
    }
    total_ += scalars_ * size_;
    if (total_ > kMaxInitializedBytes) {
      in_.fail(first, fmt::format("the initial values take more than {} bytes", kMaxInitializedBytes),
               "fill large arrays in a kernel or from the host");
    }
    decl_.initial = std::move(bytes_);
    decl_.initial.resize(scalars_ * size_);
  }

 private:
  // Parses "{...}" for the scalars from `base` on, at most `extent` of them. Returns how many it covered.
  std::uint64_t list(std::size_t dimension, std::uint64_t base, std::uint64_t extent) {
    const Token brace = in_.take();
    std::uint64_t filled = 0;
    while (!in_.at("}")) {
      const Token item = in_.current();
      if (filled >= extent) {
        in_.fail(item, fmt::format("more initial values than the {} that fit here", extent), "remove what is too much");
      }
      if (in_.at("{")) {
        // A brace needs a dimension below this one; "{1}" for a scalar has none.
        if (dimension + 1 >= strides_.size()) {
          in_.fail(item, "'{' where a single value belongs", "remove these braces");
        }
        const std::uint64_t stride = strides_[dimension];
        if (filled % stride != 0) {
          in_.fail(item, "'{' in the middle of a row", "put braces around every row or around none");
        }
        list(dimension + 1, base + filled, stride);
        filled += stride;
      } else {
        scalar(base + filled);
        ++filled;
      }
      if (!in_.accept(",")) {
        break;
      }
    }
    if (!in_.at("}")) {
      in_.fail_expected("',' or '}' in the initial value",
                        fmt::format("its '{{' is at line {}, column {}", brace.line, brace.column));
    }
    in_.take();
    return filled;
  }

  void store(std::uint64_t index, std::uint64_t bits) {
    const std::uint64_t offset = index * size_;
    if (offset + size_ > kMaxInitializedBytes) {
      in_.fail(in_.current(), fmt::format("the initial values take more than {} bytes", kMaxInitializedBytes),
               "fill large arrays in a kernel or from the host");
    }
    if (bytes_.size() < offset + size_) {
      bytes_.resize(offset + size_);
    }
    for (unsigned i = 0; i < size_; ++i) {
      bytes_[offset + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  }

  void scalar(std::uint64_t index) {
    const Token token = in_.current();
    if (token.kind == Token::Kind::identifier && token.text != "WARP_SZ") {
      address(index);
      return;
    }
    if (token.kind == Token::Kind::string) {
      in_.fail(token, "strings are no initial values in PTX", "write the bytes as numbers, .b8 x[] = {104, 105, 0}");
    }
    if (!at_constant(in_)) {
      in_.fail_expected("an initial value");
    }
    const Constant value = parse_constant(in_);
    if (in_.at("(")) {
      in_.fail(token, "the mask operator of initial values, 0xFF(symbol), is not supported",
               "use .u32 or .u64 for the address");
    }
    store(index, value.is_real() ? real_bits(token, value) : integer_bits(token, value));
  }

  std::uint64_t real_bits(const Token& token, const Constant& value) {
    switch (decl_.type) {
      case isa::Type::f64:
        return std::bit_cast<std::uint64_t>(value.real());
      case isa::Type::f32:
        // A literal of bits stays as it is, NaNs included.
        return value.kind == Constant::Kind::f32 ? value.bits
                                                 : std::bit_cast<std::uint32_t>(static_cast<float>(value.real()));
      case isa::Type::b32:
        if (value.kind == Constant::Kind::f32) return value.bits;
        break;
      case isa::Type::b64:
        if (value.kind == Constant::Kind::f64) return value.bits;
        break;
      case isa::Type::f16:
        in_.fail(token, ".f16 variables take no initial values", "declare it .b16 and write the bits");
      default:
        break;
    }
    in_.fail(token, fmt::format("a floating-point value for a .{} variable", isa::name_of(decl_.type)),
             "write an integer or change the type");
  }

  std::uint64_t integer_bits(const Token& token, const Constant& value) {
    if (decl_.type == isa::Type::f16 && value.bits != 0) {
      in_.fail(token, ".f16 variables take no initial values", "declare it .b16 and write the bits");
    }
    if (is_float(decl_.type)) {
      return decl_.type == isa::Type::f64 ? std::bit_cast<std::uint64_t>(value.real())
                                          : std::bit_cast<std::uint32_t>(static_cast<float>(value.real()));
    }
    if (size_ < 8) {
      const auto as_signed = static_cast<std::int64_t>(value.bits);
      const std::int64_t low = -(std::int64_t{1} << (8 * size_ - 1));
      const bool fits = (value.bits >> (8 * size_)) == 0 || (!value.is_unsigned && as_signed < 0 && as_signed >= low);
      if (!fits) {
        in_.fail(token,
                 fmt::format("the value {} does not fit .{}",
                             value.is_unsigned ? std::to_string(value.bits) : std::to_string(as_signed),
                             isa::name_of(decl_.type)),
                 "use a wider type or a smaller value");
      }
    }
    return value.bits;
  }

  // symbol, symbol+offset, generic(symbol), generic(symbol)+offset, generic(symbol+offset)
  void address(std::uint64_t index) {
    Relocation relocation;
    relocation.offset = index * size_;
    relocation.size = size_;
    relocation.at = in_.here();
    Token name = in_.take();
    if (name.text == "generic" && in_.at("(")) {
      in_.take();
      relocation.generic = true;
      name = in_.expect_identifier("the name of a variable");
      if (in_.at("+") || in_.at("-")) {
        relocation.addend = parse_offset(in_);
      }
      in_.expect(")", "after the name in generic(...)");
    } else if (name.text == "mask" && in_.at("(")) {
      in_.fail(name, "the mask operator of initial values is not supported", "use .u32 or .u64 for the address");
    }
    if (in_.at("+") || in_.at("-")) {
      relocation.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(relocation.addend) +
                                                    static_cast<std::uint64_t>(parse_offset(in_)));
    }
    const Symbol* symbol = symbols_.find(name.text);
    if (symbol == nullptr) {
      const std::string near = symbols_.nearest(name.text);
      in_.fail(name, fmt::format("{} is not declared", name.describe()),
               near.empty() ? "declare it before its use" : fmt::format("did you mean '{}'?", near));
    }
    if (symbol->kind != Symbol::Kind::variable && symbol->kind != Symbol::Kind::function) {
      in_.fail(name, fmt::format("{} is {}, whose address is not constant", name.describe(), describe(symbol->kind)),
               "name a variable or a function");
    }
    if (is_float(decl_.type) || size_ < 4) {
      in_.fail(name, fmt::format("an address does not fit .{}", isa::name_of(decl_.type)), "use .u32 or .u64");
    }
    relocation.symbol = symbol->unique;
    store(index, 0);
    decl_.relocations.push_back(std::move(relocation));
  }

  TokenStream& in_;
  const SymbolTable& symbols_;
  VariableDecl& decl_;
  std::uint64_t& total_;
  std::uint64_t size_;
  bool open_;
  std::vector<std::uint64_t> strides_;
  std::uint64_t scalars_ = 1;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

void parse_initializer(TokenStream& in, const SymbolTable& symbols, const std::vector<std::uint64_t>& sizes, bool open,
                       VariableDecl& decl, std::uint64_t& total) {
  Initializer(in, symbols, sizes, open, decl, total).run();
}

}  // namespace heddle::ptx
