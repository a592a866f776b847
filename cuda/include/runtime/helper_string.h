/* Of NVIDIA's code samples, from release 5 on: the command line and the places of files (docs/cuda.md). C++ alone. */
#ifndef COMMON_HELPER_STRING_H_
#define COMMON_HELPER_STRING_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <fstream>
#include <sstream>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#endif
#ifndef STRNCASECMP
#define STRNCASECMP strncasecmp
#endif
#ifndef STRCPY
#define STRCPY(to, size, from) strcpy(to, from)
#endif
#ifndef FOPEN
#define FOPEN(file, name, mode) ((file) = fopen(name, mode))
#endif
#ifndef FOPEN_FAIL
#define FOPEN_FAIL(file) ((file) == NULL)
#endif
#ifndef SSCANF
#define SSCANF sscanf
#endif
#ifndef SPRINTF
#define SPRINTF sprintf
#endif

/* How many of the character the text begins with. */
inline int stringRemoveDelimiter(char delimiter, const char* text) {
  int count = 0;
  while (text[count] != '\0' && text[count] == delimiter) ++count;
  return count;
}

/* Where the ending begins, behind the last dot; no dot: 0, and no ending. */
inline int getFileExtension(char* name, char** ending) {
  char* const dot = strrchr(name, '.');
  *ending = dot == NULL ? NULL : dot + 1;
  return dot == NULL ? 0 : static_cast<int>(dot + 1 - name);
}

/* The words -name, --name, -name=value and --name=value, in capitals or not. What follows the name, without '=': "" for
   a flag; null: there is no such word. The last one counts. */
inline const char* heddle_helper_argument_(int count, const char* const* words, const char* name) {
  const size_t size = strlen(name);
  const char* found = NULL;
  for (int i = 1; i < count; ++i) {
    const char* const word = words[i] + stringRemoveDelimiter('-', words[i]);
    if (strncasecmp(word, name, size) == 0 && (word[size] == '\0' || word[size] == '=')) {
      found = word + size + (word[size] == '=' ? 1 : 0);
    }
  }
  return found;
}

inline bool checkCmdLineFlag(const int argc, const char** argv, const char* name) {
  return heddle_helper_argument_(argc, argv, name) != NULL;
}

/* A flag has the value 0. */
template <class T>
inline bool getCmdLineArgumentValue(const int argc, const char** argv, const char* name, T* value) {
  const char* const text = heddle_helper_argument_(argc, argv, name);
  if (text == NULL) return false;
  std::istringstream in(text);
  *value = T();
  in >> *value;
  return true;
}
/* 0 for a flag, and where there is none. */
inline int getCmdLineArgumentInt(const int argc, const char** argv, const char* name) {
  const char* const text = heddle_helper_argument_(argc, argv, name);
  return text == NULL ? 0 : atoi(text);
}
inline float getCmdLineArgumentFloat(const int argc, const char** argv, const char* name) {
  const char* const text = heddle_helper_argument_(argc, argv, name);
  return text == NULL ? 0.0f : static_cast<float>(atof(text));
}
/* A part of the word itself. */
inline bool getCmdLineArgumentString(const int argc, const char** argv, const char* name, char** value) {
  *value = const_cast<char*>(heddle_helper_argument_(argc, argv, name));
  return *value != NULL;
}

/* The path of a file, in memory that free() gives back; null: nowhere. It is looked for as named, in the folder data,
   and likewise in that of the program and in those above both, where samples lie beside each other in a folder of the
   program's name. */
inline char* sdkFindFilePath(const char* file, const char* program) {
  if (file == NULL) return NULL;
  std::string beside;
  std::string name;
  if (program != NULL) {
    const std::string path(program);
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) beside = path.substr(0, slash + 1);
    name = path.substr(slash == std::string::npos ? 0 : slash + 1) + "/";
  }
  const std::string within[] = {"", "data/", "Data/", name, name + "data/", "Common/data/", "common/data/"};
  std::string up;
  for (int level = 0; level != 5; ++level, up += "../") {
    for (const std::string& start : {std::string(), beside}) {
      for (const std::string& folder : within) {
        const std::string path = (file[0] == '/' ? std::string() : start + up + folder) + file;
        if (std::ifstream(path.c_str()).good()) return strdup(path.c_str());
      }
    }
  }
  return NULL;
}

#endif
