// A TOML table seen through the questions that a reader asks; every answer that does not fit is an InputError with the
// place, the key and the nearest valid name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "base/error.hpp"
#include "tb/device/values.hpp"

namespace heddle::tb::launch {

class Section {
 public:
  // `title` names the table in messages ("[[buffer]] number 2"); `keys` are the valid ones, checked here.
  Section(const toml::table& table, std::string file, std::string title, std::vector<std::string> keys);
  // One whose keys were checked before.
  Section(const toml::table& table, std::string file, std::string title);

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] SourceLocation where() const { return location(table_); }
  [[nodiscard]] SourceLocation where(std::string_view key) const;  // of the key's value
  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  // Required ones refuse a missing key, the others return nothing.
  [[nodiscard]] const toml::node& node(std::string_view key) const;
  [[nodiscard]] std::string string(std::string_view key) const;
  [[nodiscard]] std::uint64_t integer(std::string_view key, std::uint64_t low, std::uint64_t high) const;
  [[nodiscard]] std::uint64_t integer(std::string_view key, std::uint64_t low, std::uint64_t high,
                                      std::uint64_t otherwise) const;
  [[nodiscard]] bool boolean(std::string_view key, bool otherwise) const;
  [[nodiscard]] const toml::array& array(std::string_view key) const;
  [[nodiscard]] const toml::table& table(std::string_view key) const;
  [[nodiscard]] Number number(std::string_view key, isa::Type type) const;  // one that fits the type
  [[nodiscard]] Number number(std::string_view key) const;                  // any
  [[nodiscard]] Number number_in(const toml::node& node, std::string_view key, isa::Type type) const;  // of an array
  // An array of tables; empty when the key is missing. ([[key]] or an array of inline tables.)
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) const;

  [[nodiscard]] SourceLocation location(const toml::node& node) const;
  // "'count' of [[buffer]] number 2"
  [[nodiscard]] std::string name(std::string_view key) const;
  [[noreturn]] void refuse(const toml::node& node, std::string_view key, const std::string& wanted) const;

 private:
  [[nodiscard]] Number number_of(const toml::node& node, std::string_view key) const;

  const toml::table& table_;
  std::string file_;
  std::string title_;
};

// "an array", "a string" ...
[[nodiscard]] std::string_view kind_of(const toml::node& node);

}  // namespace heddle::tb::launch
