// Reads a LAUNCH.toml into a Description (docs/launch-files.md says what may stand where). Every misuse is an
// InputError with file, line, column and key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tb/launch/description.hpp"
#include "tb/launch/section.hpp"

namespace heddle::tb::launch {

class Reader {
 public:
  Reader(const toml::table& root, const std::string& path);
  Description read();

 private:
  // A loop around the step that is being read.
  struct OpenLoop {
    std::string counter;       // empty: it has none
    std::uint64_t passes = 0;  // at most
    bool fixed = false;        // exactly as many
  };

  // ---- parse.cpp
  [[nodiscard]] std::string beside(const std::string& path) const;
  // The path of an input file, which must be there.
  std::string input_file(const Section& section, std::string_view key) const;
  void read_source();
  void read_output(const toml::table& table, std::size_t number);
  std::string output_file(const Section& section);
  std::size_t buffer_named(const Section& section, std::string_view key) const;

  // ---- read_buffer.cpp
  void read_buffer(const toml::table& table, std::size_t number);
  void read_pointers(const Section& section, Buffer& buffer) const;
  PictureShape read_image(const Section& outer, const Buffer& buffer) const;
  // None of the keys of fill_keys(): nothing. `count` 0: taken from what the fill has, which then must say it.
  std::optional<Fill> read_fill(const Section& section, isa::Type type, std::uint64_t& count) const;
  Fill::File file_of(const Section& section, isa::Type type, std::uint64_t& count) const;
  Fill::List list_of(const Section& section, isa::Type type, std::uint64_t& count) const;
  Fill::Ramp ramp_of(const Section& outer, isa::Type type, std::uint64_t count) const;
  Fill::Random random_of(const Section& outer, isa::Type type) const;

  // ---- read_step.cpp
  // The [[launch]], [[copy]] and [[fill]] of a table, in the order of the file.
  std::vector<Step> read_steps(const Section& section, const std::string& where, unsigned nesting);
  Step read_launch(const toml::table& table, const std::string& title, unsigned nesting);
  void read_kernel(const Section& section, Step& step);
  Step read_copy(const toml::table& table, const std::string& title, unsigned nesting);
  Step read_fill_step(const toml::table& table, const std::string& title, unsigned nesting);
  // run_if, repeat and repeat_while, which every kind of step has; opens the loop if there is one.
  void read_control(const Section& section, Step& step, unsigned nesting);
  void close(const Step& step);
  Condition read_condition(const Section& section) const;
  Step::Range read_range(const Section& section, std::string_view buffer_key, std::string_view offset_key) const;
  void read_grid(const Section& section, Step& step) const;

  // ---- read_argument.cpp
  Argument read_argument(const toml::table& table, const std::string& title) const;
  Argument pointer_argument(const Section& section) const;
  Argument typed_argument(const Section& section, const std::string& key) const;
  Argument structure_argument(const Section& section) const;
  Argument bytes_argument(const Section& section) const;
  // A number that a loop counts, { counter = "i", ... }; low to high is what it may be in every pass.
  Counted read_counted(const Section& outer, std::string_view key, isa::Type type, Wide low, Wide high) const;
  Counted read_counted(const toml::table& table, const std::string& title, isa::Type type, Wide low, Wide high) const;
  [[nodiscard]] static bool is_counted(const Section& section, std::string_view key);

  std::string path_;
  Section root_;
  Description description_;
  std::map<std::string, std::size_t, std::less<>> numbers_;  // of buffers, by name
  std::set<std::string> files_;                              // of outputs
  std::vector<OpenLoop> loops_;                              // the outermost first
};

// Types that a buffer's element or a scalar argument can have.
[[nodiscard]] const std::vector<std::string>& type_names();
[[nodiscard]] std::optional<isa::Type> type_named(std::string_view name);
// The keys that say what a buffer is filled with.
[[nodiscard]] const std::vector<std::string>& fill_keys();
// `first` and then the others.
[[nodiscard]] std::vector<std::string> keys_with(std::vector<std::string> first, const std::vector<std::string>& more);

}  // namespace heddle::tb::launch
