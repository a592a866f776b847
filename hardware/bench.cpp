#include "hardware/bench.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>

#include "hardware/compare.hpp"

namespace heddle::hardware {
namespace {

constexpr std::uint64_t kRecord = 32;     // bytes that a warp leaves: two clocks, its multiprocessor, a value
constexpr unsigned kTouchThreads = 1024;  // in a block

Json spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Json out;
  out.set("median", (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2);
  out.set("min", values.front());
  out.set("max", values.back());
  return out;
}

std::uint64_t mixed(std::uint64_t& state) {  // SplitMix64
  std::uint64_t z = (state += 0x9e37'79b9'7f4a'7c15ULL);
  z = (z ^ (z >> 30U)) * 0xbf58'476d'1ce4'e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d0'49bb'1331'11ebULL;
  return z ^ (z >> 31U);
}

// Words of addresses, one at the start of each slot of `stride` bytes: of the slot itself, or of the next in one circle
// through all of them in random order (Sattolo's).
std::vector<std::byte> addresses(CUdeviceptr base, std::uint64_t bytes, std::uint64_t stride, bool circle) {
  std::vector<std::uint64_t> next(bytes / stride);
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = i;
  std::uint64_t state = 1;
  for (std::size_t i = next.size(); circle && i-- > 1;) std::swap(next[i], next[mixed(state) % i]);
  std::vector<std::byte> out(bytes);
  for (std::size_t i = 0; i < next.size(); ++i) {
    const std::uint64_t address = base + next[i] * stride;
    std::memcpy(out.data() + i * stride, &address, sizeof address);
  }
  return out;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

std::vector<std::byte> bytes_of_hexadecimal(const std::string& text, const std::string& what) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const std::size_t high = kDigits.find(text[i]);
    const std::size_t low = i + 1 < text.size() ? kDigits.find(text[i + 1]) : std::string_view::npos;
    if (high == std::string_view::npos || low == std::string_view::npos) {
      throw Bad(what + ": 'hex' is pairs of hexadecimal digits");
    }
    out.push_back(static_cast<std::byte>(16 * high + low));
  }
  return out;
}

// One to three numbers.
std::array<unsigned, 3> shape(const Json& value, const std::string& what) {
  std::array<unsigned, 3> out = {1, 1, 1};
  if (value.is_null()) return out;
  const Json::Array numbers = value.is_array() ? value.array(what) : Json::Array{value};
  if (numbers.empty() || numbers.size() > 3) throw Bad(what + " is one to three numbers");
  for (std::size_t i = 0; i < numbers.size(); ++i) out.at(i) = static_cast<unsigned>(numbers[i].whole(what));
  return out;
}

// A number, or the product of several.
double product(const Json& value, const std::string& what) {
  if (value.is_null()) return 1;
  if (value.is_number()) return value.number(what);
  double out = 1;
  for (const Json& factor : value.array(what)) out *= factor.number(what);
  return out;
}

std::uint64_t whole_or(const Json& value, std::uint64_t usual, const std::string& what) {
  return value.is_null() ? usual : value.whole(what);
}

}  // namespace

// A launch, or bytes that the host writes between launches, ready to go.
struct Bench::Step {
  CUdeviceptr to = 0;  // of a write
  std::vector<std::byte> written;
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared = 0;
  std::vector<std::vector<std::byte>> arguments;
  std::vector<void*> pointers;  // to them
};

struct Bench::Allocations {
  explicit Allocations(const Driver& d) : driver(d) {}
  ~Allocations() {
    for (const auto& [name, buffer] : buffers) driver.cuMemFree(buffer.address);
  }
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;
  const Driver& driver;
  Buffers buffers;
};

Bench::Bench(std::string kernels)
    : device_(driver_.start()),
      kernels_(std::move(kernels)),
      processors_(driver_.attribute(device_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)) {}

Json Bench::device() const {
  std::array<char, 256> name{};
  int version = 0;
  std::size_t memory = 0;
  driver_.check(driver_.cuDeviceGetName(name.data(), name.size() - 1, device_), "cuDeviceGetName");
  driver_.check(driver_.cuDriverGetVersion(&version), "cuDriverGetVersion");
  driver_.check(driver_.cuDeviceTotalMem(&memory, device_), "cuDeviceTotalMem");
  const auto fact = [&](CUdevice_attribute attribute) { return Json(driver_.attribute(device_, attribute)); };
  Json out;
  out.set("name", name.data());
  out.set("driver", version);
  out.set("compute_capability",
          std::to_string(driver_.attribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) + "." +
              std::to_string(driver_.attribute(device_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)));
  out.set("multiprocessors", processors_);
  out.set("warp_size", fact(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  out.set("threads_per_multiprocessor", fact(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
  out.set("registers_per_multiprocessor", fact(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
  out.set("shared_bytes_per_multiprocessor", fact(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  out.set("l2_bytes", fact(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  out.set("memory_bytes", static_cast<unsigned long long>(memory));
  out.set("memory_bus_bits", fact(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  out.set("ecc", fact(CU_DEVICE_ATTRIBUTE_ECC_ENABLED));
  out.set("named_clock_khz", fact(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  out.set("named_memory_clock_khz", fact(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  return out;
}

Json Bench::clock(std::uint64_t cycles, unsigned repetitions) {
  const Module module(driver_, read_file(kernels_ + "/clock.ptx"));
  const CUfunction function = module.function("clock");
  Allocations held(driver_);
  Buffer& out = held.buffers["out"];
  driver_.check(driver_.cuMemAlloc(&out.address, kRecord), "cuMemAlloc");
  std::vector<double> mhz;
  for (unsigned i = 0; i <= repetitions; ++i) {  // the first brings the device up to its clock
    std::array<void*, 2> arguments = {&out.address, &cycles};
    driver_.check(driver_.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.data(), nullptr),
                  "cuLaunchKernel");
    driver_.check(driver_.cuCtxSynchronize(), "cuCtxSynchronize");
    std::array<std::uint64_t, 4> read{};
    driver_.check(driver_.cuMemcpyDtoH(read.data(), out.address, kRecord), "cuMemcpyDtoH");
    const auto nanoseconds = static_cast<double>(read[3] - read[2]);
    if (i != 0 && nanoseconds > 0) mhz.push_back(1000.0 * static_cast<double>(read[1] - read[0]) / nanoseconds);
  }
  Json row;
  row.set("cycles", static_cast<unsigned long long>(cycles));
  if (!mhz.empty()) row.set("mhz", spread(mhz));
  return row;
}

void Bench::allocate(const Item& item, Allocations& held) {
  if (item.spec["buffers"].is_null()) return;
  for (const auto& [name, spec] : item.spec["buffers"].object(item.name + ": 'buffers'")) {
    const std::string what = item.name + ": buffer '" + name + "'";
    Buffer buffer;
    std::vector<std::byte> file;
    if (!spec["file"].is_null()) file = bytes_of(read_file(item.folder + spec["file"].string(what)));
    buffer.bytes = whole_or(spec["bytes"], file.size(), what + ": 'bytes'");
    if (buffer.bytes == 0 || file.size() > buffer.bytes) throw Bad(what + ": its size fits no contents");
    driver_.check(driver_.cuMemAlloc(&buffer.address, buffer.bytes), "cuMemAlloc");
    held.buffers[name] = buffer;
    const Json& words = spec["words"];
    const Json& chase = spec["chase"];
    const Json& self = spec["self"];
    if (!chase.is_null() || !self.is_null()) {
      const std::uint64_t stride = (chase.is_null() ? self : chase).whole(what);
      if (stride < 8 || buffer.bytes % stride != 0)
        throw Bad(what + ": a slot is at least 8 bytes and divides the buffer");
      file = addresses(buffer.address, buffer.bytes, stride, !chase.is_null());
    } else if (!words.is_null()) {
      for (const Json& word : words.array(what + ": 'words'")) {
        const auto value = static_cast<std::uint32_t>(word.whole(what + ": a word"));
        const auto bytes = std::as_bytes(std::span(&value, 1));
        file.insert(file.end(), bytes.begin(), bytes.end());
      }
      if (file.size() > buffer.bytes) throw Bad(what + ": there are more words than it has");
    }
    if (!file.empty()) file.resize(buffer.bytes);
    held.buffers[name].contents = std::move(file);
  }
  for (const auto& [name, spec] : item.spec["buffers"].object("")) {  // all have their addresses now
    if (spec["pointers"].is_null()) continue;
    std::vector<std::byte>& contents = held.buffers[name].contents;
    contents.resize(held.buffers[name].bytes);
    put_pointers(spec["pointers"], held.buffers, contents, item.name + ": buffer '" + name + "'");
  }
}

// Triples: a place in `bytes`, a buffer, and the place in it whose address goes there.
void Bench::put_pointers(const Json& pointers, const Buffers& buffers, std::vector<std::byte>& bytes,
                         const std::string& what) {
  for (const Json& pointer : pointers.array(what + ": 'pointers'")) {
    const Json::Array& three = pointer.array(what + ": a pointer");
    if (three.size() != 3) throw Bad(what + ": a pointer is a place, a buffer and a place in it");
    const std::uint64_t at = three[0].whole(what + ": a pointer's place");
    const auto target = buffers.find(three[1].string(what + ": a pointer's buffer"));
    if (target == buffers.end() || at + 8 > bytes.size()) throw Bad(what + ": a pointer fits neither it nor a buffer");
    const std::uint64_t address = target->second.address + three[2].whole(what + ": where a pointer points to");
    std::memcpy(bytes.data() + at, &address, sizeof address);
  }
}

void Bench::refill(const Buffers& buffers) const {
  for (const auto& [name, buffer] : buffers) {
    if (buffer.contents.empty()) {
      driver_.check(driver_.cuMemsetD8(buffer.address, 0, buffer.bytes), "cuMemsetD8");
    } else {
      driver_.check(driver_.cuMemcpyHtoD(buffer.address, buffer.contents.data(), buffer.bytes), "cuMemcpyHtoD");
    }
  }
}

Bench::Step Bench::step_of(const Item& item, const Json& spec, const Module& module, const Buffers& buffers) const {
  Step step;
  if (!spec["write"].is_null()) {
    const Json& write = spec["write"];
    const std::string what = item.name + ": a write";
    const std::uint64_t offset = whole_or(write["offset"], 0, what);
    std::uint64_t room = 0;
    if (!write["symbol"].is_null()) {
      std::size_t bytes = 0;
      step.to = module.variable(write["symbol"].string(what), bytes) + offset;
      room = bytes;
    } else {
      const auto found = buffers.find(write["buffer"].string(what));
      if (found == buffers.end()) throw Bad(item.name + ": there is no buffer '" + write["buffer"].string(what) + "'");
      step.to = found->second.address + offset;
      room = found->second.bytes;
    }
    step.written = bytes_of(read_file(item.folder + write["file"].string(what)));
    if (!write["pointers"].is_null()) put_pointers(write["pointers"], buffers, step.written, what);
    if (step.written.empty() || offset + step.written.size() > room) throw Bad(what + ": it does not fit");
    return step;
  }
  step.function = module.function(spec["entry"].string(item.name + ": 'entry'"));
  step.grid = shape(spec["grid"], item.name + ": 'grid'");
  if (!spec["grid_per_sm"].is_null()) {
    step.grid = {static_cast<unsigned>(spec["grid_per_sm"].whole(item.name + ": 'grid_per_sm'")) *
                     static_cast<unsigned>(processors_),
                 1, 1};
  }
  step.block = shape(spec["block"], item.name + ": 'block'");
  step.shared = static_cast<unsigned>(whole_or(spec["shared"], 0, item.name + ": 'shared'"));
  if (step.shared > 48U * 1024U) {
    driver_.check(driver_.cuFuncSetAttribute(step.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(step.shared)),
                  "cuFuncSetAttribute");
  }
  const auto add = [&](const auto& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    step.arguments.emplace_back(bytes.begin(), bytes.end());
  };
  for (const Json& argument :
       spec["arguments"].is_null() ? Json::Array() : spec["arguments"].array(item.name + ": 'arguments'")) {
    const std::string what = item.name + ": an argument";
    if (!argument["buffer"].is_null()) {
      const auto found = buffers.find(argument["buffer"].string(what));
      if (found == buffers.end())
        throw Bad(item.name + ": there is no buffer '" + argument["buffer"].string(what) + "'");
      add(std::uint64_t{found->second.address + whole_or(argument["offset"], 0, what)});
    } else if (!argument["u32"].is_null()) {
      add(static_cast<std::uint32_t>(argument["u32"].whole(what)));
    } else if (!argument["u64"].is_null()) {
      add(static_cast<std::uint64_t>(argument["u64"].whole(what)));
    } else if (!argument["hex"].is_null()) {
      step.arguments.push_back(bytes_of_hexadecimal(argument["hex"].string(what), what));
      if (!argument["pointers"].is_null()) put_pointers(argument["pointers"], buffers, step.arguments.back(), what);
    } else {
      add(static_cast<float>(argument["f32"].number(what + ": one of 'buffer', 'u32', 'u64', 'hex', 'f32'")));
    }
  }
  for (std::vector<std::byte>& argument : step.arguments) step.pointers.push_back(argument.data());
  return step;
}

void Bench::touch(const Buffer& buffer) {
  const Module module(driver_, read_file(kernels_ + "/touch.ptx"));
  std::uint64_t bytes = buffer.bytes;
  CUdeviceptr address = buffer.address;
  std::array<void*, 2> arguments = {&address, &bytes};
  driver_.check(driver_.cuLaunchKernel(module.function("touch"), static_cast<unsigned>(processors_), 1, 1,
                                       kTouchThreads, 1, 1, 0, nullptr, arguments.data(), nullptr),
                "cuLaunchKernel");
  driver_.check(driver_.cuCtxSynchronize(), "cuCtxSynchronize");
}

// Of the multiprocessor that took longest, from its first warp's begin to its last one's end. (Each has a clock of its
// own.)
double Bench::cycles_of(const Buffer& records) const {
  std::vector<std::array<std::uint64_t, 4>> read(records.bytes / kRecord);
  driver_.check(driver_.cuMemcpyDtoH(read.data(), records.address, read.size() * kRecord), "cuMemcpyDtoH");
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> processors;
  for (const auto& [begin, end, processor, value] : read) {
    if (end == 0) continue;  // no warp was here
    const auto [at, inserted] = processors.try_emplace(processor, begin, end);
    at->second.first = std::min(at->second.first, begin);
    at->second.second = std::max(at->second.second, end);
  }
  std::uint64_t most = 0;
  for (const auto& [processor, times] : processors) most = std::max(most, times.second - times.first);
  return static_cast<double>(most);
}

std::vector<Bench::Sample> Bench::measure(const Item& item, const Module& module, const Buffers& buffers,
                                          unsigned burst, unsigned repetitions) {
  std::vector<Step> steps;
  if (item.spec["steps"].is_null()) {
    steps.push_back(step_of(item, item.spec, module, buffers));
  } else {
    for (const Json& spec : item.spec["steps"].array(item.name + ": 'steps'")) {
      steps.push_back(step_of(item, spec, module, buffers));
    }
  }
  const std::string touched = item.spec["touch"].is_null() ? "" : item.spec["touch"].string(item.name + ": 'touch'");
  // With writes in between each launch has its own time; else they are measured together.
  const bool apart = std::any_of(steps.begin(), steps.end(), [](const Step& step) { return !step.written.empty(); });
  Timer timer(driver_);
  std::vector<Sample> samples;
  for (unsigned i = 0; i < repetitions; ++i) {
    refill(buffers);
    if (!touched.empty()) touch(buffers.at(touched));
    driver_.check(driver_.cuCtxSynchronize(), "cuCtxSynchronize");
    const auto before = std::chrono::steady_clock::now();
    Sample sample;
    if (!apart) timer.begin();
    for (unsigned n = 0; n < burst; ++n) {
      for (Step& step : steps) {
        if (!step.written.empty()) {
          driver_.check(driver_.cuMemcpyHtoD(step.to, step.written.data(), step.written.size()), "cuMemcpyHtoD");
          continue;
        }
        if (apart) timer.begin();
        driver_.check(
            driver_.cuLaunchKernel(step.function, step.grid[0], step.grid[1], step.grid[2], step.block[0],
                                   step.block[1], step.block[2], step.shared, nullptr, step.pointers.data(), nullptr),
            "cuLaunchKernel");
        if (apart) sample.ns += timer.end();
      }
    }
    if (!apart) sample.ns = timer.end();
    driver_.check(driver_.cuCtxSynchronize(), "cuCtxSynchronize");
    sample.host_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - before).count();
    if (const auto records = buffers.find("records"); records != buffers.end()) {
      sample.cycles = cycles_of(records->second);
    }
    samples.push_back(sample);
  }
  return samples;
}

void Bench::measured(const Item& item, unsigned repetitions, Json& row) {
  Allocations held(driver_);
  allocate(item, held);
  const auto buffer = [&](const std::string& key) {
    const auto found = held.buffers.find(key);
    if (found == held.buffers.end()) throw Bad(item.name + ": there is no buffer '" + key + "'");
    return found;
  };
  if (!item.spec["touch"].is_null()) buffer(item.spec["touch"].string(item.name + ": 'touch'"));
  repetitions = static_cast<unsigned>(whole_or(item.spec["repetitions"], repetitions, item.name + ": 'repetitions'"));
  if (repetitions == 0) throw Bad(item.name + ": 'repetitions' must be at least 1");
  const Json::Array bursts =
      item.spec["burst"].is_null() ? Json::Array{1} : item.spec["burst"].array(item.name + ": 'burst'");
  const Json& value = item.spec["value"];
  const std::string of = value.is_null() ? "ns" : value["of"].string(item.name + ": 'of' of 'value'");
  if (of != "cycles" && of != "ns" && of != "host_ns") throw Bad(item.name + ": 'of' is cycles, ns or host_ns");
  Json::Array points;
  std::vector<std::pair<double, double>> line;  // how many, and the median
  for (const unsigned repeat : repeats_of(item)) {
    const Module module(driver_, ptx_of(item, repeat));
    for (const Json& n : bursts) {
      const auto burst = static_cast<unsigned>(n.whole(item.name + ": 'burst'"));
      const std::vector<Sample> samples = measure(item, module, held.buffers, burst, repetitions);
      Json point;
      if (!item.spec["repeat"].is_null()) point.set("repeat", repeat);
      if (!item.spec["burst"].is_null()) point.set("burst", burst);
      const auto add = [&](const char* name, double Sample::*member) {
        std::vector<double> values;
        for (const Sample& sample : samples) values.push_back(sample.*member);
        const Json all = spread(values);
        if (of == name) line.emplace_back(double{1} * repeat * burst, all["median"].number("median"));
        point.set(name, all);
      };
      if (held.buffers.contains("records")) add("cycles", &Sample::cycles);
      add("ns", &Sample::ns);
      add("host_ns", &Sample::host_ns);
      points.push_back(std::move(point));
    }
  }
  row.set("repetitions", repetitions);
  row.set("points", points);
  if (!value.is_null() && !line.empty()) {
    const double per = product(value["per"], item.name + ": 'per' of 'value'");
    const double amount = line.size() == 1 ? 1 : line.back().first - line.front().first;
    const double time = line.size() == 1 ? line.front().second : line.back().second - line.front().second;
    const bool rate = value["rate"].is_number() && value["rate"].number("'rate'") != 0;
    if (rate ? time > 0 : per > 0) row.set("value", rate ? per * amount / time : time / (per * amount));
    row.set("unit", value["unit"].string(item.name + ": 'unit' of 'value'"));
    row.set("of", of);
    if (rate) row.set("rate", true);
  }
  if (!item.spec["expect"].is_null()) {
    for (const Json& expected : item.spec["expect"].array(item.name + ": 'expect'")) {
      const Buffer& found = buffer(expected["buffer"].string(item.name + ": 'buffer' of 'expect'"))->second;
      std::vector<std::byte> bytes(found.bytes);
      driver_.check(driver_.cuMemcpyDtoH(bytes.data(), found.address, found.bytes), "cuMemcpyDtoH");
      compare(bytes, bytes_of(read_file(item.folder + expected["file"].string(item.name + ": 'file'"))),
              expected["parts"], item.name, row);
    }
  }
}

Json Bench::row(const Item& item, unsigned repetitions) {
  Json row;
  row.set("name", item.name);
  row.set("group", item.spec["group"]);
  row.set("key", item.key);
  row.set("status", "measured");
  try {
    measured(item, repetitions, row);
  } catch (const DriverError& error) {
    // What stays broken shows in the next call that waits.
    lost_ = driver_.cuCtxSynchronize() != CUDA_SUCCESS;
    Json failed;
    for (const char* name : {"name", "group", "key"}) failed.set(name, row[name]);
    failed.set("status", lost_ ? "fault" : "refused");
    failed.set("reason", error.what());
    return failed;
  }
  return row;
}

}  // namespace heddle::hardware
