// A value change dump (IEEE 1364, clause 18) that is written change by change, behind SystemC's interface for trace
// files.
//
// Signals of type link::Wave tell the file when they change; sc_core::sc_trace(&file, wave, name, width) takes one. A
// change costs a few nanoseconds, a signal that does not change nothing. Anything else that sc_trace() takes (signals,
// ports, variables of a platform around the GPU) is traced too, as other trace files do it: by looking at it after
// every time step.
//
// Time is counted in nanoseconds when the clock's period is a whole number of them and nothing but waves is traced, in
// units of SystemC's time resolution otherwise. Values are x before a signal's first. The window [from, to] cuts the
// file in cycles; the values at its begin are what the whole file has there. The bytes depend on the simulation
// alone: there is no date in them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "base/byte_sink.hpp"
#include "tlm/wave.hpp"

namespace heddle::traces {

class VcdFile final : public sc_core::sc_trace_file, public link::WaveLog {
 public:
  struct Options {
    std::string version;  // what wrote it: "heddle VERSION"
    link::Cycle from = 0;
    link::Cycle to = link::kNever;  // the last cycle
  };
  VcdFile(ByteSink& out, link::Clock clock, Options options);
  ~VcdFile() override;

  // The simulation has ended: what is left goes out, and the file shows its values until this moment (or the end of the
  // window). Nothing is recorded afterwards.
  void finish();

  // For who says when cycles begin, so that the file costs little outside of its window. Before the first step: it
  // looks at nothing until the window begins. Without this, each time step ends in a look.
  void wait_for_window();
  // The window's first cycle is about to begin, or a later one: it looks at each time step from here on.
  void window_begins(link::Cycle now);
  // The window's last cycle is over: it looks at nothing any more.
  void window_over(link::Cycle now);
  [[nodiscard]] bool over() const { return over_; }

  [[nodiscard]] std::uint64_t changes() const { return changes_; }  // value changes written, beside the initial values
  // The first cycle with a change, and the last cycle of the window that the simulation reached; none: nothing
  // changed.
  [[nodiscard]] std::optional<link::Cycle> first_change() const { return first_change_; }
  [[nodiscard]] link::Cycle last_cycle() const { return last_cycle_; }  // after finish()
  // A cycle as the file counts time.
  [[nodiscard]] std::uint64_t time_of(link::Cycle cycle) const { return cycle * cycle_units_; }

  // ---- sc_trace_file
  void trace(const sc_core::sc_event& object, const std::string& name) override;
  void trace(const sc_core::sc_time& object, const std::string& name) override;
  void trace(const bool& object, const std::string& name) override;
  void trace(const sc_dt::sc_bit& object, const std::string& name) override;
  void trace(const sc_dt::sc_logic& object, const std::string& name) override;
  void trace(const unsigned char& object, const std::string& name, int width) override;
  void trace(const unsigned short& object, const std::string& name, int width) override;
  void trace(const unsigned int& object, const std::string& name, int width) override;
  void trace(const unsigned long& object, const std::string& name, int width) override;
  void trace(const char& object, const std::string& name, int width) override;
  void trace(const short& object, const std::string& name, int width) override;
  void trace(const int& object, const std::string& name, int width) override;
  void trace(const long& object, const std::string& name, int width) override;
  void trace(const sc_dt::int64& object, const std::string& name, int width) override;
  void trace(const sc_dt::uint64& object, const std::string& name, int width) override;
  void trace(const float& object, const std::string& name) override;
  void trace(const double& object, const std::string& name) override;
  void trace(const sc_dt::sc_int_base& object, const std::string& name) override;
  void trace(const sc_dt::sc_uint_base& object, const std::string& name) override;
  void trace(const sc_dt::sc_signed& object, const std::string& name) override;
  void trace(const sc_dt::sc_unsigned& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxval& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxval_fast& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxnum& object, const std::string& name) override;
  void trace(const sc_dt::sc_fxnum_fast& object, const std::string& name) override;
  void trace(const sc_dt::sc_bv_base& object, const std::string& name) override;
  void trace(const sc_dt::sc_lv_base& object, const std::string& name) override;
  void trace(const unsigned int& object, const std::string& name, const char** enum_literals) override;
  void write_comment(const std::string& comment) override;
  // The unit follows from the clock.
  void set_time_unit(double, sc_core::sc_time_unit) override {}

 private:
  // Text on its way to the sink.
  class Text {
   public:
    static constexpr std::size_t kBytes = std::size_t{1} << 18U;
    // The longest line of a wave: "b", 64 digits, a blank, an identifier, a line feed; and what is written over its
    // end.
    static constexpr std::size_t kLongestLine = 96;

    explicit Text(ByteSink& out) : out_(out) {}
    // Room for a line, until end_line() says how far it has come.
    [[nodiscard]] char* line() { return bytes_.get() + size_; }
    void end_line(const char* end) {
      size_ = static_cast<std::size_t>(end - bytes_.get());
      if (size_ >= kBytes) {
        flush();
      }
    }
    Text& operator+=(std::string_view text);
    void flush();

   private:
    ByteSink& out_;
    std::unique_ptr<char[]> bytes_ = std::make_unique<char[]>(kBytes + kLongestLine);
    std::size_t size_ = 0;  // less than kBytes between calls
  };
  // What a change of a wave is written with.
  struct Line {
    std::array<char, 7> id{};  // and a line feed
    std::uint8_t length = 0;   // of both; 0x80: of one bit
  };
  enum class VarType : std::uint8_t { wire, real, event };
  struct Variable {
    std::string name;
    unsigned width;
    VarType type;
    bool wave;
    std::string id;
    std::uint64_t value = 0;  // of a wave
    bool known = false;
  };
  // Something that is looked at after every step: its value as VCD writes it, without identifier.
  struct Polled {
    std::size_t variable;
    std::function<std::string()> text;
    std::string shown;
  };
  struct Scope;

  void declare(const std::string& name, unsigned width) override;
  void show(link::Cycle cycle, std::span<const Change> changes) override;
  void cycle(bool delta_cycle) override;
  [[nodiscard]] link::Cycle present() const override { return clock_.now(); }

  void poll(const std::string& name, unsigned width, VarType type, std::function<std::string()> text);
  void add(const std::string& name, unsigned width, VarType type, bool wave);
  void look(std::uint64_t time);
  void write_header();
  void write_scope(const Scope& scope);
  void open_window(std::uint64_t time);
  void write_time(std::uint64_t time);
  void write_value(const Line& line, std::uint64_t value);
  void note_change(link::Cycle cycle) { first_change_ = first_change_ ? first_change_ : cycle; }

  link::Clock clock_;
  Options options_;
  std::vector<Variable> variables_;
  std::vector<std::uint32_t> waves_;  // variable of each wave
  std::vector<Line> lines_;           // of each wave
  std::vector<Polled> polled_;
  std::vector<std::string> comments_;
  Text buffer_;
  std::uint64_t cycle_units_ = 1;       // a cycle in units of the time scale
  std::uint64_t resolution_units_ = 1;  // SystemC time resolutions in a unit
  std::uint64_t written_time_ = ~std::uint64_t{0};
  std::uint64_t changes_ = 0;
  std::optional<link::Cycle> first_change_;
  link::Cycle last_cycle_ = 0;
  bool header_written_ = false;
  bool window_open_ = false;
  bool over_ = false;  // the window
  bool finished_ = false;
};

}  // namespace heddle::traces
