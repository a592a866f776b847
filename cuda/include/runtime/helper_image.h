/* Of NVIDIA's code samples, from release 5 on: pictures (PGM and PPM, 8 bits a channel), files of numbers, and
   comparisons (docs/cuda.md). What is loaded lies in memory that free() gives back. C++ alone. */
#ifndef COMMON_HELPER_IMAGE_H_
#define COMMON_HELPER_IMAGE_H_

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "helper_string.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef __MIN_EPSILON_ERROR
#define __MIN_EPSILON_ERROR 1e-3f
#endif

inline bool heddle_helper_fails_(const char* function, const char* file, const char* why) {
  std::cerr << function << ": " << (file == NULL ? "(no file)" : file) << ": " << why << "\n";
  return false;
}

/* A number of a picture's head: comments from '#' to the end of a line are no part of it. */
inline bool heddle_helper_number_(std::istream& in, unsigned int& number) {
  while (in >> std::ws && in.peek() == '#') {
    std::string comment;
    std::getline(in, comment);
  }
  return static_cast<bool>(in >> number);
}

/* The bytes of a picture, of 1 channel (P5) or 3 (P6). Memory that *data names already must have room for them. */
inline bool __loadPPM(const char* file, unsigned char** data, unsigned int* width, unsigned int* height,
                      unsigned int* channels) {
  std::ifstream in(file == NULL ? "" : file, std::ios::binary);
  if (!in) return heddle_helper_fails_("__loadPPM", file, "cannot be opened");
  std::string kind;
  in >> kind;
  if (kind != "P5" && kind != "P6") return heddle_helper_fails_("__loadPPM", file, "is neither PGM nor PPM (P5, P6)");
  unsigned int w = 0, h = 0, most = 0;
  if (!heddle_helper_number_(in, w) || !heddle_helper_number_(in, h) || !heddle_helper_number_(in, most) || w == 0 ||
      h == 0 || most == 0 || most > 255) {
    return heddle_helper_fails_("__loadPPM", file, "has no size, or more than 8 bits a channel");
  }
  in.get();  // the one character between head and pixels
  const unsigned int count = kind == "P5" ? 1 : 3;
  const std::streamoff begins = in.tellg();
  in.seekg(0, std::ios::end);
  const uint64_t left = static_cast<uint64_t>(in.tellg() - begins);
  in.seekg(begins);
  if (left / w / count < h) return heddle_helper_fails_("__loadPPM", file, "ends within its pixels");
  const size_t bytes = static_cast<size_t>(w) * h * count;
  if (*data != NULL && ((*width != 0 && *width != w) || (*height != 0 && *height != h))) {
    return heddle_helper_fails_("__loadPPM", file, "is of another size than the memory for it");
  }
  if (*data == NULL) *data = static_cast<unsigned char*>(malloc(bytes));
  if (*data == NULL) return heddle_helper_fails_("__loadPPM", file, "there is no memory for it");
  in.read(reinterpret_cast<char*>(*data), static_cast<std::streamsize>(bytes));
  *width = w;
  *height = h;
  *channels = count;
  return true;
}

inline bool __savePPM(const char* file, const unsigned char* data, unsigned int width, unsigned int height,
                      unsigned int channels) {
  if (channels != 1 && channels != 3) return heddle_helper_fails_("__savePPM", file, "neither 1 nor 3 channels");
  std::ofstream out(file == NULL ? "" : file, std::ios::binary);
  out << (channels == 1 ? "P5" : "P6") << "\n" << width << "\n" << height << "\n" << 255 << "\n";
  out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(width) * height * channels);
  out.flush();
  return out.good() || heddle_helper_fails_("__savePPM", file, "cannot be written");
}

/* A channel as a program has it: bytes as they are, floats from 0 to 1. */
inline void heddle_helper_channel_(unsigned char from, unsigned char& to) {
  to = from;
}
inline void heddle_helper_channel_(unsigned char from, float& to) {
  to = static_cast<float>(from) / 255.0f;
}
inline void heddle_helper_channel_(float from, unsigned char& to) {
  to = static_cast<unsigned char>(from * 255.0f);
}

/* A grey picture. */
template <class T>
inline bool sdkLoadPGM(const char* file, T** data, unsigned int* width, unsigned int* height) {
  unsigned char* bytes = NULL;
  unsigned int channels = 0, w = 0, h = 0;
  if (!__loadPPM(file, &bytes, &w, &h, &channels)) return false;
  const size_t count = static_cast<size_t>(w) * h * channels;
  if (*data == NULL) *data = static_cast<T*>(malloc(count * sizeof(T)));
  for (size_t i = 0; *data != NULL && i != count; ++i) heddle_helper_channel_(bytes[i], (*data)[i]);
  free(bytes);
  *width = w;
  *height = h;
  return *data != NULL;
}
template <class T>
inline bool sdkSavePGM(const char* file, T* data, unsigned int width, unsigned int height) {
  std::vector<unsigned char> bytes(static_cast<size_t>(width) * height);
  for (size_t i = 0; i != bytes.size(); ++i) heddle_helper_channel_(data[i], bytes[i]);
  return __savePPM(file, bytes.data(), width, height, 1);
}

/* A coloured picture: three channels as they lie in the file, or four, the last of which is 0 and is not saved. */
inline bool sdkLoadPPMub(const char* file, unsigned char** data, unsigned int* width, unsigned int* height) {
  unsigned int channels = 0;
  return __loadPPM(file, data, width, height, &channels);
}
template <class T>
inline bool sdkLoadPPM4(const char* file, T** data, unsigned int* width, unsigned int* height) {
  unsigned char* bytes = NULL;
  unsigned int channels = 0, w = 0, h = 0;
  if (!__loadPPM(file, &bytes, &w, &h, &channels)) return false;
  const size_t count = static_cast<size_t>(w) * h;
  if (*data == NULL) *data = static_cast<T*>(malloc(count * 4 * sizeof(T)));
  for (size_t i = 0; *data != NULL && i != count; ++i) {
    for (size_t c = 0; c != 4; ++c) {
      heddle_helper_channel_(c == 3 ? static_cast<unsigned char>(0) : bytes[i * channels + (channels == 1 ? 0 : c)],
                             (*data)[i * 4 + c]);
    }
  }
  free(bytes);
  *width = w;
  *height = h;
  return *data != NULL;
}
inline bool sdkLoadPPM4ub(const char* file, unsigned char** data, unsigned int* width, unsigned int* height) {
  return sdkLoadPPM4(file, data, width, height);
}
inline bool sdkSavePPM4ub(const char* file, unsigned char* data, unsigned int width, unsigned int height) {
  std::vector<unsigned char> bytes;
  bytes.reserve(static_cast<size_t>(width) * height * 3);
  for (size_t i = 0; i != static_cast<size_t>(width) * height; ++i)
    bytes.insert(bytes.end(), data + i * 4, data + i * 4 + 3);
  return __savePPM(file, bytes.data(), width, height, 3);
}

/* A text of numbers: lines that begin with '#' are none. */
template <class T>
inline bool sdkReadFile(const char* file, T** data, unsigned int* count, bool) {
  std::ifstream in(file == NULL ? "" : file);
  if (!in) return heddle_helper_fails_("sdkReadFile", file, "cannot be opened");
  std::vector<T> numbers;
  while (in >> std::ws && in.peek() != std::ifstream::traits_type::eof()) {
    T number;
    if (in.peek() == '#') {
      std::string comment;
      std::getline(in, comment);
    } else if (in >> number) {
      numbers.push_back(number);
    }
  }
  if (!in.eof()) return heddle_helper_fails_("sdkReadFile", file, "has other things than numbers in it");
  if (*data != NULL && *count != numbers.size()) {
    return heddle_helper_fails_("sdkReadFile", file, "has another number of numbers than there is memory for");
  }
  if (*data == NULL) *data = static_cast<T*>(malloc(std::max<size_t>(numbers.size(), 1) * sizeof(T)));
  if (*data == NULL) return heddle_helper_fails_("sdkReadFile", file, "there is no memory for it");
  std::copy(numbers.begin(), numbers.end(), *data);
  *count = static_cast<unsigned int>(numbers.size());
  return true;
}
/* With the epsilon of comparisons in a line with '#' before. */
template <class T, class S>
inline bool sdkWriteFile(const char* file, const T* data, unsigned int count, const S epsilon, bool,
                         bool append = false) {
  std::ofstream out(file == NULL ? "" : file, append ? std::ios::out | std::ios::app : std::ios::out);
  if (!append) out << "# " << epsilon << "\n";
  for (unsigned int i = 0; i != count; ++i) out << data[i] << ' ';
  if (count != 0) out << "\n";
  out.flush();
  return out.good() || heddle_helper_fails_("sdkWriteFile", file, "cannot be written");
}

/* The bytes as they are. */
inline void sdkDumpBin(void* data, unsigned int bytes, const char* file) {
  std::ofstream out(file, std::ios::binary);
  out.write(static_cast<const char*>(data), bytes);
}
inline bool heddle_helper_bytes_(const char* file, const char* program, std::vector<char>& bytes) {
  char* const path = sdkFindFilePath(file, program);
  if (path == NULL) return heddle_helper_fails_("comparison", file, "is nowhere");
  std::ifstream in(path, std::ios::binary);
  free(path);
  bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return true;
}

/* Whether all numbers but a part of them are no further than epsilon away from those expected. */
template <class T, class S>
inline bool compareData(const T* expected, const T* given, const unsigned int count, const S epsilon,
                        const float part) {
  unsigned int wrong = 0;
  for (unsigned int i = 0; i != count; ++i) {
    const double difference = static_cast<double>(expected[i]) - static_cast<double>(given[i]);
    if (!(fabs(difference) <= static_cast<double>(epsilon))) ++wrong;
  }
  if (wrong != 0) printf("%u of %u numbers differ by more than %g\n", wrong, count, static_cast<double>(epsilon));
  return part == 0.0f ? wrong == 0 : static_cast<float>(wrong) <= part * static_cast<float>(count);
}
template <class T, class S>
inline bool compareDataAsFloatThreshold(const T* expected, const T* given, const unsigned int count, const S epsilon,
                                        const float part) {
  return compareData(expected, given, count, std::max(static_cast<float>(epsilon), __MIN_EPSILON_ERROR), part);
}

/* Whether the length of the difference is less than epsilon, as a part of that of what is expected. */
inline bool sdkCompareL2fe(const float* expected, const float* given, const unsigned int count, const float epsilon) {
  double error = 0, all = 0;
  for (unsigned int i = 0; i != count; ++i) {
    const double difference = static_cast<double>(expected[i]) - static_cast<double>(given[i]);
    error += difference * difference;
    all += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return all > 1e-7 && sqrt(error / all) < epsilon;
}

/* Files of numbers as they lie in memory. */
template <class T>
inline bool heddle_helper_compare_files_(const char* file, const char* reference, unsigned int count,
                                         const double epsilon, const float part, const char* program) {
  std::vector<char> given, expected;
  if (!heddle_helper_bytes_(file, program, given) || !heddle_helper_bytes_(reference, program, expected)) return false;
  if (given.size() / sizeof(T) < count || expected.size() / sizeof(T) < count) {
    return heddle_helper_fails_("comparison", file, "is shorter than what is to be compared");
  }
  return compareData(reinterpret_cast<const T*>(expected.data()), reinterpret_cast<const T*>(given.data()), count,
                     epsilon, part);
}
inline bool sdkCompareBin2BinUint(const char* file, const char* reference, unsigned int count, const float epsilon,
                                  const float part, char* program) {
  return heddle_helper_compare_files_<unsigned int>(file, reference, count, epsilon, part, program);
}
inline bool sdkCompareBin2BinFloat(const char* file, const char* reference, unsigned int count, const float epsilon,
                                   const float part, char* program) {
  return heddle_helper_compare_files_<float>(file, reference, count, epsilon, part, program);
}

/* Pictures: bytes that differ by more than epsilon may be that part of all. */
inline bool heddle_helper_compare_pictures_(const char* file, const char* reference, const float epsilon,
                                            const float part) {
  unsigned char *given = NULL, *expected = NULL;
  unsigned int sizes[2][3] = {{0, 0, 0}, {0, 0, 0}};
  bool same = file != NULL && reference != NULL && __loadPPM(file, &given, &sizes[0][0], &sizes[0][1], &sizes[0][2]) &&
              __loadPPM(reference, &expected, &sizes[1][0], &sizes[1][1], &sizes[1][2]);
  if (same && !std::equal(sizes[0], sizes[0] + 3, sizes[1])) {
    same = heddle_helper_fails_("comparison", file, "is of another size than the reference");
  }
  same = same && compareData(expected, given, sizes[0][0] * sizes[0][1] * sizes[0][2],
                             std::max(epsilon, __MIN_EPSILON_ERROR), part);
  free(given);
  free(expected);
  return same;
}
inline bool sdkComparePPM(const char* file, const char* reference, const float epsilon, const float part, bool) {
  return heddle_helper_compare_pictures_(file, reference, epsilon, part);
}
inline bool sdkComparePGM(const char* file, const char* reference, const float epsilon, const float part, bool) {
  return heddle_helper_compare_pictures_(file, reference, epsilon, part);
}

#endif
