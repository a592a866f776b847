// SQLite in C++: a connection, statements, and errors that say which file and what for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace heddle::studies {

using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;  // monostate: NULL

// As CSV, tables and JSON show it: numbers in their shortest form that reads back exactly; NULL is the empty text.
[[nodiscard]] std::string sql_text(const SqlValue& value);

struct SqlTable {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
};

class Database {
 public:
  enum class Mode { read, write };  // write makes the file when it is missing; read never changes anything
  // Throws InputError when the file cannot be opened, is no database, or is damaged: all of it is looked through
  // (SQLite's integrity_check).
  Database(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Statements without results and values. Throws InputError: a full disk, a locked file.
  void run(const std::string& statements);
  // One statement with its values for ?1, ?2... Throws InputError with SQLite's message.
  [[nodiscard]] SqlTable query(const std::string& statement, const std::vector<SqlValue>& values = {});
  // A query in a user's words: one statement that reads. Anything that would write, attach another file or change a
  // setting is refused whatever it is made of (SQLite's authorizer decides, not the text), and so is more than one
  // statement. `place` is blamed.
  [[nodiscard]] SqlTable query_of_user(const std::string& statement, const std::string& place);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() const { return handle_; }
  // Throws InputError saying that the file is damaged, how, and what to do.
  [[noreturn]] void refuse_damaged(const std::string& finding) const;

 private:
  void check();

  std::string path_;
  sqlite3* handle_ = nullptr;
};

// A statement that runs many times.
class Statement {
 public:
  Statement(Database& database, const std::string& text);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  // Runs it to its end with these values. Throws InputError.
  void run(const std::vector<SqlValue>& values);

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// All that happens until commit() takes effect, or nothing of it.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

// "name" with quotes as SQL wants an identifier.
[[nodiscard]] std::string sql_name(std::string_view name);

}  // namespace heddle::studies
