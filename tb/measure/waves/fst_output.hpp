// The file of waves in FST, whole or absent.
#pragma once

#include <string>
#include <string_view>

#include "os/files/output_file.hpp"
#include "os/process/descriptor.hpp"
#include "traces/fst_form.hpp"

namespace heddle::tb {

// A target that cannot be replaced (os::OutputTarget::straight), in which nothing can be written anew, gets the file
// when it is whole.
class FstOutput final : public traces::FstSink {
 public:
  // Throws InputError when the file cannot be written.
  explicit FstOutput(const std::string& path);
  // Without commit() nothing is left.
  ~FstOutput() override;
  FstOutput(const FstOutput&) = delete;
  FstOutput& operator=(const FstOutput&) = delete;

  void write(std::string_view bytes) override;
  void write_at_begin(std::string_view bytes) override;
  void commit();

 private:
  os::OutputTarget target_;
  os::Descriptor file_;  // open until commit()
  std::string kept_;     // for a target that is written straight into
};

}  // namespace heddle::tb
