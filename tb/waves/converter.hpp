// GTKWave's own converter from VCD to FST, fed while the simulation runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "traces/byte_sink.hpp"

namespace heddle::tb {

class FstConverter final : public traces::ByteSink {
 public:
  // Starts vcd2fst. Throws InputError when it is not installed or the file cannot be written.
  explicit FstConverter(const std::string& path);
  // Without commit() nothing is left.
  ~FstConverter() override;
  FstConverter(const FstConverter&) = delete;
  FstConverter& operator=(const FstConverter&) = delete;

  void write(std::string_view bytes) override;
  void commit();

 private:
  [[nodiscard]] bool wait();

  std::string path_;
  std::string temporary_;
  int pipe_ = -1;
  pid_t child_ = -1;
};

// The full name of a program on the PATH; empty when there is none.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace heddle::tb
