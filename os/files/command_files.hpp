// The files of one command: what it writes may be neither what it reads nor what it writes already.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace heddle::os {

// Two names are one file's when they lead to the same regular file, by whatever path or link, also to one that is not
// there yet. Pipes and devices are left out: several outputs may go into one.
class CommandFiles {
 public:
  CommandFiles();  // every command reads the program's own file

  // To be said before what is written. `what` stands in messages: "the launch file".
  void reads(const std::string& what, const std::string& path);
  void reads_all(const std::string& what, const std::vector<std::string>& paths);
  // Texts that take time to list, as what a compiler includes. Listed when an output is a file that is there and may be
  // a text: programs, objects and archives are known by how they begin.
  using Lister = std::function<std::vector<std::string>()>;
  void reads_texts(const std::string& what, Lister list);
  // To be said before anything is written. `option` is what names the file: "--report". Throws InputError when the
  // command reads that file or writes it already, and when the name is empty.
  void writes(const std::string& option, const std::string& path);
  // Files of a folder.
  void writes_in(const std::string& option, const std::string& folder, const std::vector<std::string>& names);
  // Throws InputError when an output is certain not to be writable (check_writable in atomic_file.hpp). The folders
  // must be there, and none of the outputs be open.
  void check_writable() const;

 private:
  struct File {
    std::string user;  // the option that writes it, or what it is that is read
    std::string path;
    std::string identity;  // equal for two names of one file; empty: like no other
  };
  struct Texts {
    std::string what;
    Lister list;
  };
  void list_texts(const File& output);

  std::map<std::string, File> inputs_;          // by identity
  std::map<std::string, std::string> written_;  // the option of each output's identity
  std::vector<Texts> unlisted_;
  std::vector<File> outputs_;
};

}  // namespace heddle::os
