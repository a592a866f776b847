#include "cuda/compiler/dynamic_parallelism.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/compiler/compiler_texts.hpp"

namespace heddle::cuda {
namespace {

struct Clang {
  SourceLocation where;
  std::string message;
  bool from_device = false;  // a note says that device code calls what only host code may
};

std::vector<Clang> errors_of(const std::string& messages) {
  std::vector<Clang> errors;
  std::istringstream lines(plain_text(messages));
  constexpr std::string_view kError = ": error: ";
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find(kError); at != std::string::npos) {
      errors.push_back({place_of(std::string_view(line).substr(0, at)), line.substr(at + kError.size()), false});
      continue;
    }
    const bool note = line.find(": note: candidate function") != std::string::npos;
    if (!errors.empty() && note &&
        (line.find("call to __host__ function from __") != std::string::npos ||
         line.find("call to __global__ function from __") != std::string::npos)) {
      errors.back().from_device = true;
    }
  }
  return errors;
}

// The name in quotes behind `words`; empty: the message does not begin so.
std::string named(const std::string& message, std::string_view words) {
  if (!message.starts_with(words)) return {};
  const std::size_t end = message.find('\'', words.size());
  return end == std::string::npos ? std::string() : message.substr(words.size(), end - words.size());
}

bool is_api(std::string_view name) {
  return name.size() > 4 && name.starts_with("cuda") && name[4] >= 'A' && name[4] <= 'Z';
}

// What device code does that only the host can; empty: another error.
std::string offence(const Clang& error) {
  const bool in_device = error.message.find(" in __global__ function") != std::string::npos ||
                         error.message.find(" in __device__ function") != std::string::npos ||
                         error.message.find(" in __host__ __device__ function") != std::string::npos;
  const std::string kernel = named(error.message, "reference to __global__ function '");
  if (!kernel.empty() && in_device) return fmt::format("device code launches kernel '{}'", kernel);
  const std::string host = named(error.message, "reference to __host__ function '");
  if (host == "__cudaPushCallConfiguration" && in_device) return "device code launches a kernel";
  if (is_api(host) && in_device) return fmt::format("device code calls {}", host);
  const std::string called = named(error.message, "no matching function for call to '");
  if (called.empty() || !error.from_device) return {};
  return is_api(called) ? fmt::format("device code calls {}", called)
                        : fmt::format("device code launches kernel '{}'", called);
}

}  // namespace

std::optional<DynamicParallelism> find_dynamic_parallelism(const std::string& messages) {
  const std::vector<Clang> errors = errors_of(messages);
  std::size_t found = 0;
  std::set<std::pair<std::string, unsigned>> lines;
  const Clang* first = nullptr;
  bool launches = false;
  for (const Clang& error : errors) {
    const std::string what = offence(error);
    if (what.empty()) continue;
    ++found;
    lines.emplace(error.where.file, error.where.line);
    const bool launch = what.find("launches") != std::string::npos;
    if (first == nullptr || (launch && !launches)) first = &error;  // a launch says most
    launches |= launch;
  }
  if (first == nullptr) return std::nullopt;
  const std::string more = lines.size() == 1 ? "" : fmt::format(" ({} such lines in all)", lines.size());
  return DynamicParallelism{
      InputError(first->where, fmt::format("{}: there is no dynamic parallelism here{}", offence(*first), more),
                 "launch from host code, after the kernel has ended, or call a __device__ function in a loop"),
      found == errors.size()};
}

}  // namespace heddle::cuda
