#include "cuda/compiler/ptxas.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/process/child_process.hpp"
#include "os/process/stopping.hpp"

namespace heddle::cuda {
namespace {

std::string find_ptxas() {
  if (const char* const chosen = std::getenv("HEDDLE_PTXAS"); chosen != nullptr && *chosen != '\0') return chosen;
  if (!os::find_program("ptxas").empty()) return "ptxas";
  constexpr const char* kUsual = "/usr/local/cuda/bin/ptxas";  // where NVIDIA's installer puts it
  if (std::error_code error; std::filesystem::exists(kUsual, error)) return kUsual;
  throw InputError({}, "no ptxas found, NVIDIA's assembler for PTX",
                   "install a CUDA toolkit, or set HEDDLE_PTXAS to the program; nothing but this comparison needs it");
}

// The oldest GPU that every ptxas of CUDA 13 knows, and the version of PTX that knows it.
constexpr unsigned kOldestGpu = 75, kItsVersion = 63;

// The number that begins there, and how many characters it has.
std::optional<std::pair<unsigned, std::size_t>> number_at(std::string_view line, std::size_t from) {
  unsigned number = 0;
  const char* const begin = line.data() + std::min(from, line.size());
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), number);
  if (error != std::errc()) return std::nullopt;
  return std::pair{number, static_cast<std::size_t>(end - begin)};
}

// ptxas refuses text for GPUs that are older than those which it knows.
std::string lifted(const std::string& ptx) {
  std::istringstream in(ptx);
  std::string result;
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kTarget = ".target sm_", kVersion = ".version ";
    if (const std::size_t at = line.find(kTarget); at != std::string::npos) {
      const auto gpu = number_at(line, at + kTarget.size());
      if (gpu && gpu->first < kOldestGpu) {
        line.replace(at + kTarget.size(), gpu->second, fmt::format("{}", kOldestGpu));
      }
    }
    if (const std::size_t at = line.find(kVersion); at != std::string::npos) {
      const std::size_t first = at + kVersion.size();
      const auto major = number_at(line, first);
      const auto minor = major ? number_at(line, first + major->second + 1) : std::nullopt;
      if (minor && major->first * 10 + minor->first < kItsVersion) {
        line.replace(first, major->second + 1 + minor->second,
                     fmt::format("{}.{}", kItsVersion / 10, kItsVersion % 10));
      }
    }
    result += line;
    result += '\n';
  }
  return result;
}

template <class Number>
std::optional<Number> at(std::span<const std::byte> object, std::uint64_t offset) {
  if (offset > object.size() || object.size() - offset < sizeof(Number)) return std::nullopt;
  Number number = 0;
  std::memcpy(&number, object.data() + offset, sizeof number);
  return number;
}

// The number in front of `unit`, in the line.
std::optional<unsigned> number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin != 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) --begin;
  unsigned number = 0;
  const char* const last = line.data() + end;
  if (begin == end || std::from_chars(line.data() + begin, last, number).ptr != last) return std::nullopt;
  return number;
}

// "ptxas FILE, line N; error : TEXT", "ptxas error : TEXT" or "ptxas fatal : TEXT".
InputError first_error(const std::string& report, const std::string& file) {
  std::istringstream in(report);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    const std::string_view head = std::string_view(line).substr(0, colon);
    const bool says = head.find("error") != head.npos || head.find("fatal") != head.npos;
    if (colon == std::string::npos || !says) continue;
    SourceLocation where{file};
    if (const std::size_t at = line.find(", line "); at != std::string::npos) {
      where.line = static_cast<std::uint32_t>(std::strtoul(line.c_str() + at + 7, nullptr, 10));
    }
    const bool narrow = line.find("32-Bit") != std::string::npos;
    const std::size_t text = std::min(line.find_first_not_of(' ', colon + 1), line.size());
    return {where, "ptxas refuses it: " + line.substr(text), narrow ? "compile with --address-bits 64" : ""};
  }
  return {{file}, "ptxas fails without saying why"};
}

}  // namespace

std::map<std::string, std::size_t> count_instructions(std::span<const std::byte> object, const std::string& file) {
  const auto need = [&](const auto& number) {
    if (!number) throw InputError({file}, "the object file is cut off");
    return *number;
  };
  constexpr std::uint32_t kElf = 0x464C457F;
  constexpr unsigned kWide = 2;
  if (at<std::uint32_t>(object, 0) != kElf || at<std::uint8_t>(object, 4) != kWide) {
    throw InputError({file}, "ptxas has written no object file of 64 bits");
  }
  // Offsets of the ELF header and of a section's (System V ABI, chapter 4).
  const auto headers = need(at<std::uint64_t>(object, 40));
  const auto size = need(at<std::uint16_t>(object, 58)), sections = need(at<std::uint16_t>(object, 60)),
             names = need(at<std::uint16_t>(object, 62));
  const auto field = [&](unsigned section, unsigned offset) {
    return need(at<std::uint64_t>(object, headers + std::uint64_t{size} * section + offset));
  };
  constexpr unsigned kOffset = 24, kSize = 32;
  const std::uint64_t texts = field(names, kOffset);
  std::map<std::string, std::size_t> result;
  for (unsigned section = 0; section != sections; ++section) {
    const std::uint64_t name_at = texts + need(at<std::uint32_t>(object, headers + std::uint64_t{size} * section));
    std::string name;
    for (std::uint64_t i = name_at; need(at<char>(object, i)) != '\0'; ++i) name += *at<char>(object, i);
    constexpr std::string_view kText = ".text.";
    if (name.compare(0, kText.size(), kText) != 0) continue;
    const std::uint64_t begin = field(section, kOffset);
    constexpr std::uint64_t kBytes = 16;
    std::uint64_t count = field(section, kSize) / kBytes;
    // The low 12 bits of an instruction say what it is.
    constexpr unsigned kOperation = 0xFFF, kNop = 0x918, kBranch = 0x947;
    const auto last = [&] { return need(at<std::uint16_t>(object, begin + (count - 1) * kBytes)) & kOperation; };
    while (count != 0 && last() == kNop) --count;
    if (count != 0 && last() == kBranch) --count;
    result[name.substr(kText.size())] = count;
  }
  return result;
}

std::map<std::string, PtxasKernel> read_report(std::string_view report) {
  std::map<std::string, PtxasKernel> kernels;
  PtxasKernel* kernel = nullptr;
  while (!report.empty()) {
    const std::size_t end = std::min(report.find('\n'), report.size());
    const std::string_view line = report.substr(0, end);
    report.remove_prefix(std::min(end + 1, report.size()));
    constexpr std::string_view kBegins = "Compiling entry function '";
    if (const std::size_t at = line.find(kBegins); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + kBegins.size());
      kernel = &kernels[std::string(rest.substr(0, rest.find('\'')))];
    }
    if (kernel == nullptr) continue;
    if (const auto bytes = number_before(line, " bytes spill stores")) kernel->spilled_bytes = *bytes;
    if (const auto registers = number_before(line, " registers")) kernel->registers = *registers;
  }
  return kernels;
}

std::map<std::string, PtxasKernel> assemble(const std::string& ptx, const std::string& file, const std::string& gpu) {
  const std::string program = find_ptxas();
  const os::StopsOrderly caught;  // the folder does not stay behind
  const os::TemporaryFolder temporary;
  temporary.write("in.ptx", lifted(ptx));
  const std::string object = (temporary.path() / "out.cubin").string();
  os::Finished done;
  try {
    done =
        os::run_program_or_stop({program, "-v", "-arch=" + gpu, (temporary.path() / "in.ptx").string(), "-o", object},
                                {}, fmt::format("while ptxas assembled {}", file));
  } catch (const os::StartError& error) {
    throw InputError({}, fmt::format("cannot run ptxas '{}': {}", program, error.reason()),
                     "set HEDDLE_PTXAS to the program, or unset it");
  }
  const std::string report = done.out + done.err;
  if (done.end.shell_code() != 0) throw first_error(report, file);
  std::ifstream in(object, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::map<std::string, PtxasKernel> kernels = read_report(report);
  for (const auto& [name, count] : count_instructions(std::as_bytes(std::span(bytes)), file)) {
    kernels[name].instructions = count;
  }
  return kernels;
}

}  // namespace heddle::cuda
