#include "traces/vcd_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace heddle::traces {

namespace {

constexpr std::uint8_t kOneBit = 0x80;

// The eight binary digits of every byte.
constexpr auto kDigits = [] {
  std::array<std::array<char, 8>, 256> digits{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      digits[byte][bit] = static_cast<char>('0' + ((byte >> (7 - bit)) & 1U));
    }
  }
  return digits;
}();

// Identifiers are numbers in base 94, in printable characters.
std::string identifier(std::size_t number) {
  std::string id;
  do {
    id.push_back(static_cast<char>('!' + number % 94));
    number /= 94;
  } while (number != 0);
  return id;
}

}  // namespace

// Scopes in the order of their first signal.
struct VcdFile::Scope {
  std::vector<std::pair<std::string, std::unique_ptr<Scope>>> inner;
  std::map<std::string, std::size_t, std::less<>> by_name;
  std::vector<std::pair<std::string, const Variable*>> variables;

  Scope& in(const std::string& name) {
    const auto [place, is_new] = by_name.emplace(name, inner.size());
    if (is_new) {
      inner.emplace_back(name, std::make_unique<Scope>());
    }
    return *inner[place->second].second;
  }
};

VcdFile::VcdFile(ByteSink& out, link::Clock clock, Options options)
    : clock_(clock), options_(std::move(options)), buffer_(out) {
  sc_core::sc_get_curr_simcontext()->add_trace_file(this);
}

VcdFile::~VcdFile() {
  if (!finished_) {
    sc_core::sc_get_curr_simcontext()->remove_trace_file(this);
  }
}

// ------------------------------------------------------------------------------------------------ declarations

void VcdFile::add(const std::string& name, unsigned width, VarType type, bool wave) {
  if (header_written_) {
    throw InternalError("the signal " + name + " is traced after the simulation has begun");
  }
  if (name.empty() || width == 0) {
    throw InternalError("a traced signal needs a name and a width");
  }
  variables_.push_back({name, width, type, wave, identifier(variables_.size())});
}

void VcdFile::declare(const std::string& name, unsigned width) {
  if (width > 64) {
    throw InternalError("the signal " + name + " is wider than 64 bits");
  }
  add(name, width, VarType::wire, true);
  waves_.push_back(static_cast<std::uint32_t>(variables_.size() - 1));
  const std::string id = variables_.back().id + '\n';
  Line& line = lines_.emplace_back();
  if (id.size() > line.id.size()) {
    throw InternalError("too many signals are traced");
  }
  std::copy(id.begin(), id.end(), line.id.begin());
  line.length = static_cast<std::uint8_t>(id.size() | (width == 1 ? kOneBit : 0U));
}

void VcdFile::write_comment(const std::string& comment) {
  if (comment.find("$end") == std::string::npos) {
    comments_.push_back(comment);
  }
}

void VcdFile::write_scope(const Scope& scope) {
  for (const auto& [name, variable] : scope.variables) {
    const std::string range = variable->width > 1 && variable->type == VarType::wire
                                  ? fmt::format(" [{}:0]", variable->width - 1)
                                  : std::string();
    const char* const type = variable->type == VarType::real    ? "real"
                             : variable->type == VarType::event ? "event"
                                                                : "wire";
    buffer_ += fmt::format("$var {} {} {} {}{} $end\n", type, variable->width, variable->id, name, range);
  }
  for (const auto& [name, inner] : scope.inner) {
    buffer_ += fmt::format("$scope module {} $end\n", name);
    write_scope(*inner);
    buffer_ += "$upscope $end\n";
  }
}

void VcdFile::write_header() {
  header_written_ = true;
  const std::uint64_t period = clock_.cycles(1).value();
  const std::uint64_t per_ns = sc_core::sc_time(1, sc_core::SC_NS).value();
  const bool whole_ns = polled_.empty() && per_ns != 0 && period % per_ns == 0;
  resolution_units_ = whole_ns ? per_ns : 1;
  cycle_units_ = period / resolution_units_;
  std::string unit = "1 ns";
  if (!whole_ns) {
    // 1, 10 or 100 of a unit, as SystemC allows for its resolution.
    const double seconds = sc_core::sc_get_time_resolution().to_seconds();
    const std::array<std::pair<double, const char*>, 6> units = {
        {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}, {1e-15, "fs"}}};
    for (const auto& [scale, name] : units) {
      if (seconds >= scale * 0.999) {
        unit = fmt::format("{} {}", std::lround(seconds / scale), name);
        break;
      }
    }
  }
  buffer_ += fmt::format("$version {} $end\n", options_.version);
  for (const std::string& comment : comments_) {
    buffer_ += fmt::format("$comment {} $end\n", comment);
  }
  buffer_ += fmt::format("$timescale {} $end\n", unit);
  Scope top;
  for (const Variable& variable : variables_) {
    Scope* scope = &top;
    std::size_t begin = 0;
    for (std::size_t dot = variable.name.find('.'); dot != std::string::npos; dot = variable.name.find('.', begin)) {
      scope = &scope->in(variable.name.substr(begin, dot - begin));
      begin = dot + 1;
    }
    scope->variables.emplace_back(variable.name.substr(begin), &variable);
  }
  write_scope(top);
  for (Polled& polled : polled_) {
    if (variables_[polled.variable].type != VarType::event) {
      polled.shown = polled.text();
    }
  }
  buffer_ += "$enddefinitions $end\n";
  buffer_.flush();
}

// ------------------------------------------------------------------------------------------------------- values

VcdFile::Text& VcdFile::Text::operator+=(std::string_view text) {
  while (!text.empty()) {
    const std::size_t count = std::min(text.size(), kBytes - size_);
    std::memcpy(bytes_.get() + size_, text.data(), count);
    end_line(bytes_.get() + size_ + count);
    text.remove_prefix(count);
  }
  return *this;
}

void VcdFile::Text::flush() {
  out_.write({bytes_.get(), size_});
  size_ = 0;
}

void VcdFile::write_time(std::uint64_t time) {
  if (time != written_time_) {
    written_time_ = time;
    char* const text = buffer_.line();
    *text = '#';
    char* end = std::to_chars(text + 1, text + Text::kLongestLine - 1, time).ptr;
    *end++ = '\n';
    buffer_.end_line(end);
  }
}

void VcdFile::write_value(const Line& line, std::uint64_t value) {
  char* at = buffer_.line();
  if ((line.length & kOneBit) != 0) {
    *at++ = static_cast<char>('0' + (value & 1U));
  } else {
    *at++ = 'b';
    if (value == 0) {
      *at++ = '0';
    } else {
      // Whole bytes from the first one that is not zero, less its leading zeros: readers extend with zeros.
      const unsigned bits = static_cast<unsigned>(std::bit_width(value));
      unsigned bytes = (bits + 7) / 8;
      const unsigned leading = bytes * 8 - bits;
      --bytes;
      std::uint64_t digits = 0;
      std::memcpy(&digits, kDigits[(value >> (8 * bytes)) & 0xffU].data(), sizeof digits);
      digits >>= 8 * leading;  // the first digit is in the lowest byte
      std::memcpy(at, &digits, sizeof digits);
      at += 8 - leading;
      while (bytes != 0) {
        --bytes;
        std::memcpy(at, kDigits[(value >> (8 * bytes)) & 0xffU].data(), 8);
        at += 8;
      }
    }
    *at++ = ' ';
  }
  std::memcpy(at, line.id.data(), line.id.size());  // what is too much is written over
  buffer_.end_line(at + (line.length & ~kOneBit));
}

// The values with which the window begins.
void VcdFile::open_window(std::uint64_t time) {
  window_open_ = true;
  write_time(time);
  buffer_ += "$dumpvars\n";
  for (std::size_t wave = 0; wave != waves_.size(); ++wave) {  // as they were declared
    const Variable& variable = variables_[waves_[wave]];
    if (variable.known) {
      write_value(lines_[wave], variable.value);
    } else {
      buffer_ += (variable.width == 1 ? "x" : "bx ") + variable.id + "\n";
    }
  }
  for (Polled& polled : polled_) {
    if (variables_[polled.variable].type != VarType::event) {
      buffer_ += polled.shown + variables_[polled.variable].id + "\n";
    }
  }
  buffer_ += "$end\n";
}

void VcdFile::show(link::Cycle cycle, std::span<const Change> changes) {
  if (cycle > options_.to) {
    return;
  }
  if (!window_open_) {
    if (cycle > options_.from) {
      open_window(time_of(options_.from));
    } else {
      for (const Change& change : changes) {
        Variable& variable = variables_[waves_[change.wave]];
        variable.value = change.value;
        variable.known = true;
      }
      if (cycle < options_.from) {
        return;
      }
      open_window(time_of(cycle));
      return;
    }
  }
  write_time(time_of(cycle));
  changes_ += changes.size();
  if (!changes.empty()) {
    note_change(cycle);
  }
  for (const Change& change : changes) {
    write_value(lines_[change.wave], change.value);
  }
}

void VcdFile::look(std::uint64_t time) {
  const link::Cycle now = clock_.now();
  if (now > options_.to) {
    return;
  }
  const bool visible = now >= options_.from;
  if (visible && !window_open_) {
    open_window(time_of(options_.from));
  }
  for (Polled& polled : polled_) {
    std::string text = polled.text();
    if (text != polled.shown) {
      if (visible) {
        write_time(time);
        ++changes_;
        note_change(now);
        buffer_ += text + variables_[polled.variable].id + "\n";
      }
      if (variables_[polled.variable].type != VarType::event) {
        polled.shown = std::move(text);
      }
    }
  }
}

// The kernel calls this at the end of every time step.
void VcdFile::cycle(bool delta_cycle) {
  if (delta_cycle || finished_) {
    return;
  }
  if (!header_written_) {
    write_header();
  }
  if (asleep() || over_ || (idle() && polled_.empty())) {
    return;  // what was announced can wait for the next change
  }
  flush(clock_.now());
  if (!polled_.empty()) {
    look(sc_core::sc_time_stamp().value() / resolution_units_);
  }
}

void VcdFile::wait_for_window() {
  if (options_.from != 0 && polled_.empty()) {
    sleep();
  }
}

void VcdFile::window_begins(link::Cycle now) {
  if (asleep()) {
    wake(now);
  }
}

void VcdFile::window_over(link::Cycle now) {
  if (!over_ && !finished_ && polled_.empty()) {
    window_begins(now);
    flush(now);
    leave();
    over_ = true;
  }
}

void VcdFile::finish() {
  if (finished_) {
    return;
  }
  if (!header_written_) {
    write_header();
  }
  const link::Cycle now = clock_.now();
  window_begins(now + 1);
  flush(now);
  if (!polled_.empty()) {
    look(sc_core::sc_time_stamp().value() / resolution_units_);
  }
  if (!window_open_) {
    open_window(time_of(options_.from));
  }
  last_cycle_ = std::max(options_.from, std::min(now, options_.to));
  write_time(time_of(last_cycle_ + 1));
  buffer_.flush();
  finished_ = true;
  sc_core::sc_get_curr_simcontext()->remove_trace_file(this);
}

}  // namespace heddle::traces
