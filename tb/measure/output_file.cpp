#include "tb/measure/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace heddle::tb {

namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw InputError({path}, fmt::format("cannot be written: {}", std::strerror(error)));
}

}  // namespace

std::string temporary_name(const std::string& path) {
  const std::filesystem::path target(path);
  return (target.parent_path() / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid())).string();
}

struct OutputFile::Compressor {
  Compressor() {
    // 16: a gzip header, which has neither name nor date unless one is set.
    if (::deflateInit2(&stream, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw InternalError("the compressor cannot be started");
    }
  }
  ~Compressor() { ::deflateEnd(&stream); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  z_stream stream{};
  std::array<char, 1 << 16> out{};
};

OutputFile::OutputFile(const std::string& path, Form form) : path_(path), temporary_(temporary_name(path)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    refuse(path, EISDIR);
  }
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    refuse(path, errno);
  }
  if (form == Form::gzip) {
    compressor_ = std::make_unique<Compressor>();
  }
}

OutputFile::~OutputFile() {
  if (file_ >= 0) {
    ::close(file_);
    ::unlink(temporary_.c_str());
  }
}

void OutputFile::write_plain(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      refuse(path_, written == 0 ? ENOSPC : errno);
    }
  }
}

void OutputFile::deflate(std::string_view bytes, bool last) {
  z_stream& stream = compressor_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(compressor_->out.data());
    stream.avail_out = static_cast<uInt>(compressor_->out.size());
    ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    write_plain({compressor_->out.data(), compressor_->out.size() - stream.avail_out});
  } while (stream.avail_out == 0);
}

void OutputFile::write(std::string_view bytes) {
  if (compressor_ == nullptr) {
    write_plain(bytes);
    return;
  }
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPiece))) {
    deflate(bytes.substr(0, kPiece), false);
  }
}

void OutputFile::commit() {
  if (compressor_ != nullptr) {
    deflate({}, true);
  }
  const int file = file_;
  file_ = -1;
  if (::close(file) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    refuse(path_, error);
  }
}

}  // namespace heddle::tb
