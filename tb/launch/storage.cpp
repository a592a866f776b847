#include "tb/launch/storage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.hpp"
#include "isa/memory_map.hpp"
#include "isa/symbol_names.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/launch/fill.hpp"

namespace heddle::tb::launch {

Storage::Storage(const Description& description, Executor& executor)
    : description_(description), executor_(executor), places_(description.buffers.size()) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!description_.buffers[i].symbol.empty()) {
      find_variable(description_.buffers[i], places_[i]);
    }
  }
}

void Storage::find_variable(const Buffer& buffer, Place& place) const {
  const std::vector<isa::Variable>& variables = executor_.module().variables;
  std::vector<std::string> names;
  for (const isa::Variable& variable : variables) {
    names.push_back(variable.name);
  }
  const std::vector<std::size_t> found = isa::find_named(names, buffer.symbol);
  if (found.size() != 1) {
    std::vector<std::string> fitting;
    for (const std::size_t i : found) {
      fitting.push_back(names[i]);
    }
    const std::vector<std::string> known = isa::listed_names(names);
    throw InputError(
        buffer.symbol_where,
        fmt::format("{} '{}' in '{}'",
                    found.empty() ? "there is no __device__ or __constant__ variable" : "several variables are called",
                    excerpt(buffer.symbol), description_.source),
        !found.empty()
            ? "name one as in the PTX: " + join(fitting)
            : suggest(buffer.symbol, isa::names_to_suggest(names),
                      known.empty() ? "no kernel of the file uses one (what nobody uses, compilers leave out)"
                                    : "variables: " + join(known)));
  }
  const isa::Variable& variable = variables[found.front()];
  if (buffer.bytes() > variable.size) {
    throw InputError(buffer.where,
                     fmt::format("buffer '{}' has {} bytes, but variable '{}' has {}", buffer.name, buffer.bytes(),
                                 excerpt(buffer.symbol), variable.size),
                     "give a smaller 'count'");
  }
  place = {variable.space, true, variable.address};
}

void Storage::allocate() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Buffer& buffer = description_.buffers[i];
    if (!places_[i].is_variable) {
      places_[i].address = executor_.memory().allocate(buffer.name, buffer.bytes(), description_.address_bits == 32);
    }
  }
}

std::uint64_t Storage::address(std::size_t buffer) const {
  const Place& place = places_[buffer];
  return place.space == isa::Space::constant ? isa::kConstantWindow + place.address : place.address;
}

void Storage::read(std::size_t buffer, std::uint64_t offset, std::span<std::byte> out) const {
  const Place& place = places_[buffer];
  if (place.space == isa::Space::constant) {
    const auto bank = std::as_bytes(std::span(executor_.module().constant_bank));
    const auto from = bank.subspan(place.address + offset, out.size());
    std::copy(from.begin(), from.end(), out.begin());
  } else {
    executor_.memory().read(place.address + offset, out);
  }
}

void Storage::write(std::size_t buffer, std::uint64_t offset, std::span<const std::byte> in) {
  const Place& place = places_[buffer];
  if (place.space == isa::Space::constant) {
    executor_.set_constants(place.address + offset, in);
  } else {
    executor_.memory().write(place.address + offset, in);
  }
}

void Storage::initialise(std::size_t index) {
  const Buffer& buffer = description_.buffers[index];
  if (buffer.fill && places_[index].is_variable) {
    fill(index, 0, buffer.bytes(), *buffer.fill);
  } else if (buffer.fill) {
    fill_fresh(*buffer.fill, buffer, places_[index].address, executor_.memory());
  }
  const unsigned size = description_.address_bits / 8;
  for (const Buffer::Pointers& pointers : buffer.pointers) {
    for (std::uint64_t i = 0; i < pointers.count; ++i) {
      const std::uint64_t target = address(pointers.buffer) + pointers.offset + i * pointers.offset_step;
      write(index, (pointers.index + i * pointers.index_step) * isa::size_of(buffer.type),
            std::as_bytes(std::span(&target, 1)).first(size));
    }
  }
}

void Storage::fill(std::size_t index, std::uint64_t offset, std::uint64_t bytes, const Fill& fill) {
  const Buffer& buffer = description_.buffers[index];
  fill_now(fill, buffer, bytes,
           [&](std::uint64_t begin, std::span<const std::byte> piece) { write(index, offset + begin, piece); });
}

}  // namespace heddle::tb::launch
