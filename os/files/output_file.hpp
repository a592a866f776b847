// A file that is written piece by piece and appears whole or not at all, plain or compressed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/line_sink.hpp"
#include "os/files/gzip_blocks.hpp"

namespace heddle::os {

// What a name leads to through symbolic links, whether it is there or not. A name of a descriptor of this process, such
// as /proc/self/fd/1, is an end: what that link says is often no path.
[[nodiscard]] std::filesystem::path behind_links(std::filesystem::path path);

// Where an output goes. A regular file, or one that is not there yet, is written under a temporary name in its folder
// (temporary_name.hpp), which then takes its place; a symbolic link stays, and what it leads to is replaced. What is no
// regular file (a pipe, a device, a descriptor of this process such as /dev/stdout) cannot be replaced and is written
// straight into.
class OutputTarget {
 public:
  // Throws InputError naming the path where no file can be: at a folder, below a file.
  explicit OutputTarget(const std::string& path);

  [[nodiscard]] const std::string& name() const { return name_; }  // as the user gave it
  [[nodiscard]] bool straight() const { return straight_; }
  [[nodiscard]] const std::string& temporary() const { return temporary_; }
  // Throws InputError when it is certain that the target cannot be written. Leaves nothing behind.
  void check() const;
  // A descriptor that writes the temporary file and keeps it from being taken for left over, or straight into the
  // target. Throws InputError.
  [[nodiscard]] int open() const;
  // The temporary file takes the target's place, or is removed, also where that fails. Nothing to do for a target that
  // is written straight into.
  void replace() const;
  void discard() const;
  // Throws InputError with the system's reason.
  [[noreturn]] void refuse(int error) const;

 private:
  std::string name_;
  std::string file_;               // behind the links
  std::string temporary_;          // whose place it takes; empty: it is written straight into
  std::optional<int> descriptor_;  // of this process
  bool straight_ = false;
};

// Writes to an OutputTarget; commit() makes the file appear. Without commit() nothing is left, except in a target that
// is written straight into. Throws InputError naming the path.
class OutputFile final : public LineSink {
 public:
  enum class Form { plain, gzip };
  explicit OutputFile(const std::string& path, Form form = Form::plain);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] const std::string& path() const { return target_.name(); }
  void write(std::string_view bytes) override;
  [[nodiscard]] bool wants_lines() const override { return compressed_ != nullptr; }
  void take_lines(Text& text) override;
  void commit();

 private:
  void write_plain(std::string_view bytes);

  OutputTarget target_;
  const Form form_;
  int file_ = -1;
  std::unique_ptr<GzipBlocks> compressed_;  // null: it is plain
};

}  // namespace heddle::os
