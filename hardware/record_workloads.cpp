// Writes workloads as a campaign: their PTX for 64-bit addresses, buffers, launches, what the host writes in between,
// and the memory that the reference interpreter leaves. Buffers lie elsewhere on a GPU, so each workload is recorded
// twice with buffers at other addresses: what differs between the two must be a pointer, and becomes one.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "hardware/json.hpp"
#include "tb/device/executor.hpp"
#include "tb/device/workload.hpp"
#include "workloads/kernels.hpp"

namespace heddle::hardware {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;  // of a workload's buffers

struct Write {
  std::size_t buffer = 0;
  std::string symbol;  // a variable of the module instead
  std::uint64_t offset = 0;
  Bytes bytes;
};

struct Launched {
  std::vector<Write> before;
  isa::LaunchRequest request;
};

struct Recording {
  struct Buffer {
    isa::Allocation place;
    Bytes initial, now;
  };
  std::vector<Buffer> buffers;
  std::vector<Launched> launches;
  isa::Module module;
};

// Looks at memory before and after each launch.
class Recorder final : public tb::Executor {
 public:
  explicit Recorder(std::uint64_t seed) { inner_.memory().set_placement({isa::Placement::Rule::seeded, 256, seed}); }
  [[nodiscard]] isa::DeviceMemory& memory() override { return inner_.memory(); }
  void load(isa::Module module) override {
    inner_.load(std::move(module));
    for (const auto& [address, allocation] : memory().allocations()) own_.insert(address);
    look_at_variables(nullptr);
  }
  [[nodiscard]] const isa::Module& module() const override { return inner_.module(); }
  void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) override {
    inner_.set_constants(offset, bytes);
    for (const isa::Variable& variable : module().variables) {
      if (variable.space == isa::Space::constant && variable.address <= offset &&
          offset + bytes.size() <= variable.address + variable.size) {
        writes_.push_back({0, variable.name, offset - variable.address, Bytes(bytes.begin(), bytes.end())});
        return;
      }
    }
    throw InternalError("constants of no variable are written");
  }
  void launch(const isa::LaunchRequest& request) override {
    look(&writes_);
    look_at_variables(&writes_);
    recording_.launches.push_back({std::move(writes_), request});
    writes_.clear();
    inner_.launch(request);
    look(nullptr);
    look_at_variables(nullptr);
  }
  [[nodiscard]] const isa::RetirementHash& retirement() const override { return inner_.retirement(); }

  [[nodiscard]] Recording take() {
    recording_.module = inner_.module();
    return std::move(recording_);
  }

 private:
  // Buffers that the host has changed since the last look go to `writes`; new ones get their first contents.
  void look(std::vector<Write>* writes) {
    std::uint64_t all = 0;
    for (const auto& [address, allocation] : memory().allocations()) {
      if (own_.contains(address)) continue;
      if ((all += allocation.size) > kMostBytes || memory().computed(address, allocation.size)) {
        throw InputError({}, fmt::format("buffer '{}' is too large to record", allocation.name),
                         "give a smaller scale");
      }
      Bytes bytes(allocation.size);
      memory().read(address, bytes);
      const auto [found, is_new] = numbers_.try_emplace(address, recording_.buffers.size());
      if (is_new) {
        recording_.buffers.push_back({allocation, bytes, bytes});
        continue;
      }
      Recording::Buffer& buffer = recording_.buffers[found->second];
      if (buffer.place.size != allocation.size) throw InternalError("a buffer took another's place");
      if (writes != nullptr && buffer.now != bytes) writes->push_back({found->second, {}, 0, bytes});
      buffer.now = std::move(bytes);
    }
  }
  void look_at_variables(std::vector<Write>* writes) {
    for (const isa::Variable& variable : module().variables) {
      if (variable.space != isa::Space::global || variable.size == 0) continue;
      Bytes bytes(variable.size);
      memory().read(variable.address, bytes);
      Bytes& before = variables_[variable.name];
      if (writes != nullptr && before != bytes) writes->push_back({0, variable.name, 0, bytes});
      before = std::move(bytes);
    }
  }

  tb::ReferenceExecutor inner_;
  Recording recording_;
  std::vector<Write> writes_;
  std::set<std::uint64_t> own_;  // code and variables
  std::map<std::uint64_t, std::size_t> numbers_;
  std::map<std::string, Bytes> variables_;
};

// A workload that cannot be recorded.
struct Unfit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Target {
  std::size_t buffer = 0;
  std::uint64_t offset = 0;
  bool operator==(const Target&) const = default;
};

std::optional<Target> target_of(const Recording& recording, std::uint64_t address) {
  for (std::size_t i = 0; i < recording.buffers.size(); ++i) {
    const isa::Allocation& place = recording.buffers[i].place;
    if (place.address <= address && address <= place.address + place.size) return Target{i, address - place.address};
  }
  return std::nullopt;
}

std::string buffer_name(const Recording& recording, std::size_t number) {
  return fmt::format("{} {}", number, recording.buffers[number].place.name);
}

// What differs between both recordings of the same bytes, as pointers.
Json::Array pointers_in(const Recording& one, const Recording& other, std::span<const std::byte> a,
                        std::span<const std::byte> b) {
  Json::Array out;
  if (a.size() != b.size()) throw Unfit("what the host writes depends on addresses");
  for (std::size_t at = 0; at < a.size(); at += 8) {
    const std::size_t size = std::min<std::size_t>(8, a.size() - at);
    if (std::memcmp(a.data() + at, b.data() + at, size) == 0) continue;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::memcpy(&first, a.data() + at, size);
    std::memcpy(&second, b.data() + at, size);
    const std::optional<Target> target = target_of(one, first);
    if (size < 8 || !target || target != target_of(other, second)) {
      throw Unfit("something other than 64-bit pointers to buffers depends on addresses");
    }
    out.push_back(Json::Array{at, buffer_name(one, target->buffer), target->offset});
  }
  return out;
}

// The text without the kernels that are not launched, which may have instructions that only Heddle knows.
std::string with_kernels(std::string_view ptx, const std::set<std::string>& wanted) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t entry = ptx.find(".entry ", at);
    if (entry == std::string_view::npos) return out += ptx.substr(at);
    const std::size_t line = ptx.rfind('\n', entry) + 1;
    const std::size_t end = ptx.find("\n}\n", entry);
    const std::string name(ptx.substr(entry + 7, ptx.find_first_of("( \n", entry + 7) - entry - 7));
    if (end == std::string_view::npos) throw InternalError("a kernel without an end");
    out += ptx.substr(at, (wanted.contains(name) ? end + 3 : line) - at);
    at = end + 3;
  }
}

class Writer {
 public:
  Writer(std::string folder, std::string prefix) : folder_(std::move(folder)), prefix_(std::move(prefix)) {}
  // The name of a new file with these bytes.
  std::string file(std::span<const std::byte> bytes, const std::string& kind) {
    const std::string name = fmt::format("{}-{}.{}", prefix_, ++files_, kind);
    std::ofstream out(folder_ + "/" + name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) throw InputError({}, fmt::format("{}/{} cannot be written", folder_, name), "look at the folder");
    return name;
  }

 private:
  std::string folder_, prefix_;
  unsigned files_ = 0;
};

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return out;
}

bool all_zero(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
}

Json arguments_of(const Recording& one, const Recording& other, std::size_t launch, const isa::Kernel& kernel) {
  Json::Array out;
  for (const isa::Parameter& parameter : kernel.parameters) {
    const auto bytes = [&](const Recording& recording) {
      return std::as_bytes(std::span(recording.launches[launch].request.parameters))
          .subspan(parameter.offset, parameter.size);
    };
    Json argument;
    argument.set("hex", hexadecimal(bytes(one)));
    if (Json::Array pointers = pointers_in(one, other, bytes(one), bytes(other)); !pointers.empty()) {
      argument.set("pointers", std::move(pointers));
    }
    out.push_back(std::move(argument));
  }
  return out;
}

Json shape_of(const isa::Dim3& shape) {
  return Json::Array{shape.x, shape.y, shape.z};
}

Json item_of(const std::string& name, const Recording& one, const Recording& other, bool compared, Writer& writer) {
  if (one.launches.size() != other.launches.size() || one.buffers.size() != other.buffers.size()) {
    throw Unfit("what is launched depends on addresses");
  }
  for (std::size_t i = 0; i < one.buffers.size(); ++i) {
    if (one.buffers[i].place.address == other.buffers[i].place.address) throw Unfit("a buffer has not moved");
  }
  Json buffers, item;
  for (std::size_t i = 0; i < one.buffers.size(); ++i) {
    const Recording::Buffer& buffer = one.buffers[i];
    Json spec;
    spec.set("bytes", buffer.place.size);
    if (!all_zero(buffer.initial)) spec.set("file", writer.file(buffer.initial, "in"));
    Json::Array pointers = pointers_in(one, other, buffer.initial, other.buffers[i].initial);
    if (!pointers.empty()) spec.set("pointers", std::move(pointers));
    buffers.set(buffer_name(one, i), std::move(spec));
  }
  Json::Array steps;
  std::set<std::string> kernels;
  for (std::size_t n = 0; n < one.launches.size(); ++n) {
    const Launched& launched = one.launches[n];
    if (launched.before.size() != other.launches[n].before.size())
      throw Unfit("what the host writes depends on addresses");
    for (std::size_t w = 0; w < launched.before.size(); ++w) {
      const Write& write = launched.before[w];
      Json spec;
      spec.set(write.symbol.empty() ? "buffer" : "symbol",
               write.symbol.empty() ? buffer_name(one, write.buffer) : write.symbol);
      spec.set("offset", write.offset);
      spec.set("file", writer.file(write.bytes, "in"));
      Json::Array pointers = pointers_in(one, other, write.bytes, other.launches[n].before[w].bytes);
      if (!pointers.empty()) spec.set("pointers", std::move(pointers));
      steps.push_back(Json::Object{{"write", std::move(spec)}});
    }
    const isa::Kernel& kernel = *one.module.find(launched.request.kernel);
    kernels.insert(kernel.name);
    Json step;
    step.set("entry", kernel.name);
    step.set("grid", shape_of(launched.request.grid));
    step.set("block", shape_of(launched.request.block));
    if (launched.request.dynamic_shared != 0) step.set("shared", launched.request.dynamic_shared);
    step.set("arguments", arguments_of(one, other, n, kernel));
    steps.push_back(std::move(step));
  }
  const std::string source = std::filesystem::path(one.module.name).stem().string();
  const std::string text = with_kernels(workloads::kernel_ptx(source, 64), kernels);
  item.set("name", name);
  item.set("group", "workloads");
  item.set("ptx", writer.file(std::as_bytes(std::span(text)), "ptx"));
  item.set("buffers", std::move(buffers));
  item.set("steps", std::move(steps));
  item.set("value", Json::Object{{"of", "ns"}, {"unit", "nanoseconds of all launches"}});
  Json::Array expected;
  for (std::size_t i = 0; compared && i < one.buffers.size(); ++i) {
    const Recording::Buffer& buffer = one.buffers[i];
    if (buffer.now == buffer.initial || buffer.now != other.buffers[i].now) continue;
    expected.push_back(Json::Object{{"buffer", buffer_name(one, i)}, {"file", writer.file(buffer.now, "out")}});
  }
  if (!expected.empty()) item.set("expect", std::move(expected));
  return item;
}

Recording record(const std::string& name, const tb::WorkloadOptions& options, std::uint64_t seed, bool& compared) {
  const std::unique_ptr<tb::Workload> workload = tb::make_workload(name, options);
  Recorder recorder(seed);
  recorder.load(workload->compile());
  const tb::Verdict verdict = workload->run(recorder);
  if (!verdict.correct) throw InternalError(fmt::format("{}: {}", name, verdict.detail));
  compared = !workload->order_dependent();
  return recorder.take();
}

constexpr const char* kUsage =
    "usage: record_workloads FOLDER [--scale S]... [--threads N] [WORKLOAD]...\n"
    "Writes FOLDER/workloads.json and its files: each workload (all of them) at each scale (0.01), with launches that\n"
    "divide a fixed grid's work made for N threads (1024).\n";

int record_all(const std::vector<std::string>& words) {
  std::string folder;
  std::vector<double> scales;
  std::vector<std::string> names;
  tb::WorkloadOptions options;
  options.address_bits = 64;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--scale" && i + 1 < words.size()) {
      scales.push_back(std::stod(words[++i]));
    } else if (word == "--threads" && i + 1 < words.size()) {
      options.resident_threads = static_cast<unsigned>(std::stoul(words[++i]));
    } else if (word.starts_with("-")) {
      throw InputError({}, "'" + word + "' is not understood", kUsage);
    } else {
      folder.empty() ? void(folder = word) : names.push_back(word);
    }
  }
  if (folder.empty()) throw InputError({}, "no folder is named", kUsage);
  if (scales.empty()) scales.push_back(0.01);
  if (names.empty()) {
    for (const auto& [name, entry] : Registry<tb::Workload>::instance().entries()) names.push_back(name);
  }
  std::filesystem::create_directories(folder);
  Json::Array items;
  for (const std::string& name : names) {
    for (const double scale : scales) {
      options.scale = scale;
      std::string prefix = fmt::format("{}-{}", name, scale);
      std::replace(prefix.begin(), prefix.end(), ':', '_');
      Writer writer(folder, prefix);
      try {
        bool compared = false;
        const Recording one = record(name, options, 1, compared);
        const Recording other = record(name, options, 2, compared);
        items.push_back(item_of(fmt::format("{}/{}", name, scale), one, other, compared, writer));
      } catch (const Unfit& error) {
        std::cerr << name << ": not recorded: " << error.what() << '\n';
      } catch (const InputError& error) {
        std::cerr << name << ": not recorded: " << error.what() << '\n';
      }
    }
  }
  std::cout << items.size() << " items: " << folder << "/workloads.json\n";
  Json list;
  list.set("items", std::move(items));
  std::ofstream out(folder + "/workloads.json");
  out << list.lines();
  out.close();
  return out ? 0 : 1;
}

}  // namespace
}  // namespace heddle::hardware

int main(int count, char** words) {
  try {
    return heddle::hardware::record_all({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << "record_workloads: " << error.what() << '\n';
    return 1;
  }
}

extern "C" int sc_main(int /*count*/, char** /*words*/) {  // SystemC's library asks for it
  return 0;
}
