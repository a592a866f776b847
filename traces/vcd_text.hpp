// A value change dump (IEEE 1364, clause 18), as text.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_sink.hpp"
#include "traces/wave_form.hpp"

namespace heddle::traces {

class VcdText final : public WaveForm {
 public:
  explicit VcdText(ByteSink& out) : out_(out) { make_room(1); }
  explicit VcdText(LineSink& out) : out_(out), lines_of_(out.wants_lines() ? &out : nullptr) { make_room(1); }

  void begin(const Head& head) override;
  void time(std::uint64_t time) override;
  void first_values(bool begin) override { append(begin ? "$dumpvars\n" : "$end\n"); }
  void changes(std::span<const link::WaveChange> changes) override;
  void unknown(std::uint32_t wave) override;
  void text(std::size_t variable, const std::string& value) override;
  void end() override { flush(); }

 private:
  // The longest line of a wave: "b", 64 digits, a blank, an identifier, a line feed; and what is written over its end.
  static constexpr std::size_t kLongestLine = 96;
  // What a change of a wave is written with.
  struct Line {
    std::array<char, 8> end{};               // behind the digits: a blank, the identifier, a line feed
    std::uint32_t length = 0;                // of it
    std::uint32_t before = 1;                // bytes before the digits: "b", or nothing and no blank either
    std::uint64_t mask = ~std::uint64_t{0};  // of a value's bits
  };

  void scope(const WaveScope& scope, const Head& head, std::string& text) const;
  // Room for a line, until end_line() says how far it has come.
  [[nodiscard]] char* line() { return text_.bytes.data() + text_.size; }
  void end_line(const char* end) {
    text_.size = static_cast<std::size_t>(end - text_.bytes.data());
    if (text_.size >= most_) {
      flush();
    }
  }
  // For so many lines of waves, and at least for most_.
  void make_room(std::size_t lines) {
    const std::size_t needed = std::max(text_.size + lines * kLongestLine, most_ + kLongestLine);
    if (text_.bytes.size() < needed) {
      text_.bytes.resize(needed);
    }
  }
  void append(std::string_view text);
  // The next line is like none before it.
  void tell_new_line(std::size_t size);
  void make_room_for_lines(std::size_t count) {
    if (text_.lines.size() - text_.lines_count < count) {
      text_.lines.resize(2 * (text_.lines_count + count));
    }
  }
  void flush();
  template <bool kTellsLines>
  void write_changes(std::span<const link::WaveChange> changes);

  ByteSink& out_;
  LineSink* lines_of_ = nullptr;  // null: nobody wants lines
  // Bytes on their way there, fewer between calls: what stays in the host's caches, or a block that is compressed.
  const std::size_t most_ = std::size_t{1} << (lines_of_ == nullptr ? 18U : 20U);
  LineSink::Text text_;  // with its lines where anybody wants them
  std::uint64_t time_ = ~std::uint64_t{0};
  std::vector<Line> lines_;       // of each wave
  std::vector<std::string> ids_;  // of each variable
};

}  // namespace heddle::traces
