#include "tb/measure/subject.hpp"

#include "base/error.hpp"
#include "tb/launch/launch_file.hpp"
#include "tb/measure/trace_subject.hpp"

namespace heddle::tb {
namespace {

class WorkloadSubject final : public Subject {
 public:
  WorkloadSubject(std::string name, const WorkloadOptions& options)
      : name_(std::move(name)), options_(options), workload_(make_workload(name_, options)) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] isa::Module compile(std::vector<std::string>* /*notes*/,
                                    const std::atomic<bool>* /*interrupted*/) const override {
    return workload_->compile();
  }
  [[nodiscard]] std::uint64_t threads() const override { return workload_->threads(); }
  [[nodiscard]] std::optional<double> scale() const override { return options_.scale; }
  [[nodiscard]] std::optional<std::uint64_t> seed() const override { return options_.seed; }
  [[nodiscard]] unsigned address_bits() const override { return options_.address_bits; }
  [[nodiscard]] bool order_dependent() const override { return workload_->order_dependent(); }
  [[nodiscard]] Verdict run(Executor& executor, const std::optional<std::string>& /*output_directory*/) override {
    return workload_->run(executor);
  }

 private:
  std::string name_;
  WorkloadOptions options_;
  std::unique_ptr<Workload> workload_;
};

class LaunchSubject final : public Subject {
 public:
  LaunchSubject(std::string path, const WorkloadOptions& options, std::shared_ptr<const std::string> ptx = nullptr)
      : path_(std::move(path)), code_(options.code), ptx_(std::move(ptx)), file_(LaunchFile::read(path_)) {}
  [[nodiscard]] const std::string& name() const override { return path_; }
  [[nodiscard]] isa::Module compile(std::vector<std::string>* notes,
                                    const std::atomic<bool>* interrupted) const override {
    return ptx_ == nullptr ? file_.compile(code_, notes, interrupted) : file_.compile(*ptx_, code_, notes, interrupted);
  }
  [[nodiscard]] std::uint64_t threads() const override { return file_.threads(); }
  [[nodiscard]] std::optional<double> scale() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> seed() const override { return std::nullopt; }
  [[nodiscard]] unsigned address_bits() const override { return file_.address_bits(); }
  // Nothing is known of the kernel; hashes are compared, and a difference is reported as such.
  [[nodiscard]] bool order_dependent() const override { return false; }
  [[nodiscard]] std::vector<std::string> output_files() const override { return file_.output_files(); }
  [[nodiscard]] Verdict run(Executor& executor, const std::optional<std::string>& output_directory) override {
    return file_.run(executor, output_directory);
  }

 private:
  std::string path_;
  ptx::CodeOptions code_;
  std::shared_ptr<const std::string> ptx_;
  LaunchFile file_;
};

}  // namespace

std::unique_ptr<Subject> make_launch_subject(const std::string& path, const WorkloadOptions& options,
                                             std::shared_ptr<const std::string> ptx) {
  return std::make_unique<LaunchSubject>(path, options, std::move(ptx));
}

std::unique_ptr<Subject> make_subject(const std::string& name, const WorkloadOptions& options) {
  if (name.ends_with(".toml")) {
    return std::make_unique<LaunchSubject>(name, options);
  }
  if (name.ends_with(".trace")) {
    return std::make_unique<TraceSubject>(name);
  }
  if (name.ends_with(".cu") || name.ends_with(".ptx")) {
    throw InputError(
        {name}, "a kernel file alone does not say what to launch, and with which data",
        "write a LAUNCH.toml that names it (docs/launch-files.md) and run that; heddle compile shows its kernels");
  }
  return std::make_unique<WorkloadSubject>(name, options);
}

}  // namespace heddle::tb
