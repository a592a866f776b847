// A dump of value changes that is written change by change, behind SystemC's interface for trace files: as text, the
// value change dump of IEEE 1364, clause 18, or in another form (WaveForm).
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

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "base/byte_sink.hpp"
#include "tlm/wave.hpp"
#include "traces/batch_thread.hpp"
#include "traces/wave_form.hpp"

namespace heddle::traces {

class VcdFile final : public sc_core::sc_trace_file, public link::WaveLog {
 public:
  struct Options {
    std::string version;  // what wrote it: "heddle VERSION"
    link::Cycle from = 0;
    link::Cycle to = link::kNever;  // the last cycle
    bool apart = false;             // a thread of its own writes; not where anything but waves is traced
  };
  VcdFile(ByteSink& out, link::Clock clock, Options options);
  VcdFile(std::unique_ptr<WaveForm> form, link::Clock clock, Options options);
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
  using VarType = WaveForm::Type;
  static constexpr std::size_t kBatch = std::size_t{1} << 15U;  // ops of a batch, about
  struct Ops {
    std::vector<link::WaveOp> ops{};  // the first `count`
    std::size_t count = 0;
  };
  // The latest value of a wave, until the window begins.
  struct Latest {
    std::uint64_t value = 0;
    bool known = false;
  };
  // Something that is looked at after every step: its value as VCD writes it, without identifier.
  struct Polled {
    std::size_t variable;
    std::function<std::string()> text;
    std::string shown;
  };

  void declare(const std::string& name, unsigned width) override;
  void pass(std::vector<link::WaveOp>& ops, std::size_t count) override;
  void show(link::Cycle cycle, std::span<const link::WaveChange> changes);
  void cycle(bool delta_cycle) override;
  [[nodiscard]] link::Cycle present() const override { return clock_.now(); }

  void poll(const std::string& name, unsigned width, VarType type, std::function<std::string()> text);
  void add(const std::string& name, unsigned width, VarType type, bool wave);
  void look(std::uint64_t time);
  void write_header();
  void open_window(std::uint64_t time);
  void note_change(link::Cycle cycle) { first_change_ = first_change_ ? first_change_ : cycle; }

  link::Clock clock_;
  Options options_;
  std::unique_ptr<WaveForm> form_;
  std::vector<WaveForm::Variable> variables_;
  std::vector<std::uint32_t> waves_;  // variable of each wave
  std::vector<Latest> latest_;        // of each wave
  std::vector<Polled> polled_;
  std::vector<std::string> comments_;
  std::uint64_t cycle_units_ = 1;       // a cycle in units of the time scale
  std::uint64_t resolution_units_ = 1;  // SystemC time resolutions in a unit
  std::uint64_t changes_ = 0;
  std::optional<link::Cycle> first_change_;
  link::Cycle last_cycle_ = 0;
  bool header_written_ = false;
  bool window_open_ = false;
  bool over_ = false;  // the window
  bool finished_ = false;
  link::WaveSteps steps_;
  std::unique_ptr<BatchThread<Ops>> thread_;  // whose are steps_, form_ and the window until it has finished
};

}  // namespace heddle::traces
