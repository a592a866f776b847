#include "workloads/support.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "ptx/compile.hpp"
#include "workloads/kernels.hpp"

namespace heddle::workloads {
namespace {

// The words of `words` that were given.
std::vector<std::string_view> asked(const tb::Variants& variants, std::initializer_list<std::string_view> words) {
  std::vector<std::string_view> found;
  std::copy_if(words.begin(), words.end(), std::back_inserter(found),
               [&](std::string_view word) { return variants.flag(word); });
  return found;
}

}  // namespace

KernelWorkload::KernelWorkload(std::string name, const tb::WorkloadOptions& options,
                               std::vector<tb::Variants::Known> variants, Loops loops)
    : name_(std::move(name)), options_(options), variants_(name_, options, std::move(variants)) {
  if (!(options_.scale > 0) || options_.scale > 16) {
    throw InputError({}, fmt::format("scale {} of workload '{}'", options_.scale, name_),
                     "give a number above 0 and at most 16");
  }
  const std::vector<std::string_view> forms = asked(variants_, {kPthreads, kProgress, kDws, kTextures});
  if (forms.size() > 1) {
    throw InputError({}, fmt::format("workload '{}' has no form that is both {} and {}", name_, forms[0], forms[1]),
                     "give one of them");
  }
  const bool has_loops = loops == Loops::always || dws();
  if (variants_.flag(kInterleaved) && !has_loops) {
    throw InputError(
        {}, fmt::format("variant '{}' of workload '{}' without '{}'", kInterleaved, name_, kDws),
        fmt::format("'{}' says how the tasks of parallel loops are dealt: give '{}' too", kInterleaved, kDws));
  }
  const unsigned step = has_loops ? 1 : kBlock;
  if (options_.resident_threads == 0 || options_.resident_threads % step != 0) {
    throw InputError(
        {}, fmt::format("{} resident threads (core.threads) for workload '{}'", options_.resident_threads, name_),
        has_loops ? "give 1 or more" : fmt::format("give a multiple of {}", kBlock));
  }
}

isa::Module KernelWorkload::compile() const {
  const std::vector<std::string_view> forms = asked(variants_, {kPthreads, kProgress, kDws, kTextures});
  const std::string source = forms.empty() ? name_ : fmt::format("{}-{}", name_, forms.front());
  return ptx::compile(kernel_ptx(source, options_.address_bits), source + ".ptx", ptx::CompileOptions(options_.code));
}

std::uint32_t KernelWorkload::scaled(std::uint32_t full, std::uint32_t least, std::uint32_t step) const {
  const double wanted = std::max<double>(least, std::round(full * scale()));
  return static_cast<std::uint32_t>(std::ceil(wanted / step)) * step;
}

std::uint64_t KernelWorkload::allocate(tb::Executor& executor, const std::string& buffer, std::uint64_t bytes) const {
  return executor.memory().allocate(buffer, bytes, options_.address_bits == 32);
}

void KernelWorkload::launch(tb::Executor& executor, const std::string& kernel, isa::Dim3 grid, isa::Dim3 block,
                            const tb::Arguments& arguments, std::uint32_t dynamic_shared) {
  isa::LaunchRequest request;
  request.kernel = kernel;
  request.grid = grid;
  request.block = block;
  request.dynamic_shared = dynamic_shared;
  request.parameters = arguments.bytes();
  executor.launch(request);
}

void KernelWorkload::launch_team(tb::Executor& executor, const std::string& kernel, tb::Arguments& arguments) const {
  launch(executor, kernel, {1}, {team()}, arguments.value(team()));
}

void KernelWorkload::launch_loop(tb::Executor& executor, const std::string& kernel, tb::Arguments& arguments,
                                 std::uint32_t tasks) const {
  const std::uint32_t interleaved = variants_.flag(kInterleaved) ? 1 : 0;
  launch(executor, kernel, {groups()}, {group()}, arguments.value(tasks).value(interleaved));
}

}  // namespace heddle::workloads
