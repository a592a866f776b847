#include "traces/gtkwave.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::traces {

namespace {

using link::Signal;
using link::SignalGroup;
using link::SignalKind;

// Display flags of a save file's traces.
constexpr unsigned kHexadecimal = 0x2;
constexpr unsigned kDecimal = 0x4;
constexpr unsigned kBinary = 0x8;
constexpr unsigned kRightAligned = 0x20;
constexpr unsigned kBlank = 0x200;
constexpr unsigned kCollapsed = 0x1000;
constexpr unsigned kFileFilter = 0x2000;
constexpr unsigned kAnalogStep = 0x8000;
constexpr unsigned kAnalogHeight = 0x20000;
constexpr unsigned kClosed = 0x400000;
constexpr unsigned kGroupBegin = 0x800000;
constexpr unsigned kGroupEnd = 0x1000000;

// Of a window of 1600 pixels, less the names and values beside the waves.
constexpr double kWavePixels = 1000;
constexpr double kZoomPixels = 200;                      // GTKWave's zoom counts in spans of so many
constexpr double kUsualUnits = 22.627417 / kZoomPixels;  // 2 to the power of 4.5 in a span

// Depths and counts are seen best as curves.
bool is_level(const Signal& signal) {
  return signal.type.kind == SignalKind::number &&
         (signal.group == SignalGroup::scheduler || signal.group == SignalGroup::pool || signal.name == "queue" ||
          signal.name == "mshrs" || signal.name == "put_aside" || signal.name == "waiting" ||
          signal.name == "active") &&
         signal.name != "fetch_group";
}

// Shown in this order: what a core does first.
constexpr SignalGroup kOrder[] = {
    SignalGroup::fetch,  SignalGroup::decode,    SignalGroup::subwarp,   SignalGroup::registers,  SignalGroup::execute,
    SignalGroup::memory, SignalGroup::writeback, SignalGroup::scheduler, SignalGroup::divergence, SignalGroup::l1,
    SignalGroup::pool,   SignalGroup::noc,       SignalGroup::l2,        SignalGroup::dram};

bool opens(SignalGroup group, const std::string& scope) {
  const bool first_core = scope.find(".core") == std::string::npos || scope.find(".core0.") != std::string::npos;
  return first_core && (group == SignalGroup::fetch || group == SignalGroup::subwarp || group == SignalGroup::execute ||
                        group == SignalGroup::scheduler);
}

class SaveFile {
 public:
  void header(const std::string& dump_file, const GtkwaveView& view) {
    text_ += "[*]\n[*] written by heddle\n[*]\n";
    text_ += fmt::format("[dumpfile] \"{}\"\n[timestart] {}\n[size] 1600 1000\n[pos] -1 -1\n", dump_file, view.begin);
    // The zoom is the negative binary logarithm of the time units in 200 pixels (measured with GTKWave 3.3.118; a
    // span of less than one unit is shown as one unit).
    const double units = view.end > view.begin ? static_cast<double>(view.end - view.begin) / kWavePixels : kUsualUnits;
    text_ += fmt::format("*{:.6f} {}", -std::log2(units * kZoomPixels), view.begin);
    for (int marker = 0; marker < 27; ++marker) {
      text_ += " -1";
    }
    text_ += "\n[sst_width] 220\n[signals_width] 320\n[sst_expanded] 1\n[sst_vpaned_height] 400\n";
  }
  void begin(const std::string& name, bool open) {
    flags(kGroupBegin | kBlank | (open ? 0 : kClosed));
    text_ += "-" + name + "\n";
  }
  void end(const std::string& name, bool open) {
    flags(kGroupEnd | kBlank | (open ? 0 : kClosed | kCollapsed));
    text_ += "-" + name + "\n";
  }
  void signal(const Signal& signal, const std::string& filters) {
    const std::string range = signal.type.width > 1 ? fmt::format("[{}:0]", signal.type.width - 1) : "";
    const bool level = is_level(signal);
    unsigned format = kRightAligned;
    switch (signal.type.kind) {
      case SignalKind::number:
        format |= kDecimal | (level ? kAnalogStep : 0);
        break;
      case SignalKind::boolean:
        format |= kBinary;
        break;
      case SignalKind::mask:
      case SignalKind::address:
        format |= kHexadecimal;
        break;
      case SignalKind::enumeration:
        format |= kHexadecimal | kFileFilter;
        break;
    }
    flags(format);
    if (signal.type.enumeration != nullptr) {
      text_ += fmt::format("^1 {}{}.txt\n", filters, signal.type.enumeration->name);
    }
    text_ += signal.path() + range + "\n";
    if (level) {
      flags(kAnalogHeight);
      text_ += "-\n";
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void flags(unsigned wanted) {
    if (wanted != flags_) {
      text_ += fmt::format("@{:x}\n", wanted);
      flags_ = wanted;
    }
  }
  std::string text_;
  unsigned flags_ = ~0U;
};

// The signals of one scope; signals that share the first part of their names ("row.lane0") in a fold of their own,
// after the others.
void add_scope(SaveFile& file, const std::vector<const Signal*>& signals, const std::string& filters) {
  std::vector<std::string> folds;
  for (const Signal* const signal : signals) {
    const std::size_t dot = signal->name.rfind('.');
    if (dot == std::string::npos) {
      file.signal(*signal, filters);
    } else if (std::find(folds.begin(), folds.end(), signal->name.substr(0, dot)) == folds.end()) {
      folds.push_back(signal->name.substr(0, dot));
    }
  }
  for (const std::string& fold : folds) {
    const std::string name = signals.front()->scope + "." + fold;
    file.begin(name, false);
    for (const Signal* const signal : signals) {
      if (signal->name.rfind('.') == fold.size() && signal->name.starts_with(fold)) {
        file.signal(*signal, filters);
      }
    }
    file.end(name, false);
  }
}

}  // namespace

std::string gtkwave_translation(const link::Enumeration& enumeration) {
  const unsigned digits = (enumeration.width() + 3) / 4;
  std::string text;
  for (std::size_t value = 0; value < enumeration.values.size(); ++value) {
    text += fmt::format("{:0{}x} {}\n", value, digits, enumeration.values[value]);
  }
  return text;
}

std::vector<const link::Enumeration*> enumerations_of(const std::vector<Signal>& signals) {
  std::vector<const link::Enumeration*> found;
  for (const Signal& signal : signals) {
    const link::Enumeration* const one = signal.type.enumeration;
    if (one != nullptr && std::find(found.begin(), found.end(), one) == found.end()) {
      found.push_back(one);
    }
  }
  return found;
}

std::string gtkwave_save(const std::vector<Signal>& signals, const std::string& dump_file, const std::string& filters,
                         const GtkwaveView& view) {
  SaveFile file;
  file.header(dump_file, view);
  for (const SignalGroup group : kOrder) {
    std::vector<const Signal*> members;
    for (const Signal& signal : signals) {
      if (signal.group == group) {
        members.push_back(&signal);
      }
    }
    if (members.empty()) {
      continue;
    }
    const std::string name(link::kSignalGroups[static_cast<std::size_t>(group)].name);
    const bool open = std::any_of(members.begin(), members.end(),
                                  [&](const Signal* signal) { return opens(group, signal->scope + "."); });
    file.begin(name, open);
    // Within a group one fold per scope.
    for (std::size_t first = 0; first < members.size();) {
      std::size_t last = first;
      while (last < members.size() && members[last]->scope == members[first]->scope) {
        ++last;
      }
      const bool unfolded = opens(group, members[first]->scope + ".");
      file.begin(members[first]->scope, unfolded);
      add_scope(
          file,
          {members.begin() + static_cast<std::ptrdiff_t>(first), members.begin() + static_cast<std::ptrdiff_t>(last)},
          filters);
      first = last;
      file.end(members[last - 1]->scope, unfolded);
    }
    file.end(name, open);
  }
  return file.text();
}

}  // namespace heddle::traces
