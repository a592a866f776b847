#include "studies/database/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace heddle::studies {
namespace {

constexpr int kWaitMilliseconds = 20000;  // for another connection's transaction

[[noreturn]] void refuse(const Database& database, std::string_view what) {
  throw InputError({database.path()}, fmt::format("{}: {}", what, ::sqlite3_errmsg(database.handle())));
}

void bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    ::sqlite3_bind_int64(statement, index, *whole);
  } else if (const auto* number = std::get_if<double>(&value)) {
    ::sqlite3_bind_double(statement, index, *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    ::sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else {
    ::sqlite3_bind_null(statement, index);
  }
}

SqlValue column(sqlite3_stmt* statement, int index) {
  switch (::sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
      return std::int64_t{::sqlite3_column_int64(statement, index)};
    case SQLITE_FLOAT:
      return ::sqlite3_column_double(statement, index);
    case SQLITE_NULL:
      return {};
    default: {  // text, and bytes as they are
      const auto* text = static_cast<const char*>(::sqlite3_column_blob(statement, index));
      return text == nullptr ? std::string()
                             : std::string(text, static_cast<std::size_t>(::sqlite3_column_bytes(statement, index)));
    }
  }
}

class Prepared {
 public:
  explicit Prepared(sqlite3_stmt* statement) : statement_(statement) {}
  ~Prepared() { ::sqlite3_finalize(statement_); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  [[nodiscard]] sqlite3_stmt* get() const { return statement_; }

 private:
  sqlite3_stmt* statement_;
};

// False: an error, which the connection holds.
bool fetch(sqlite3_stmt* statement, SqlTable& table) {
  const int columns = ::sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) {
    table.columns.emplace_back(::sqlite3_column_name(statement, i));
  }
  for (;;) {
    const int code = ::sqlite3_step(statement);
    if (code != SQLITE_ROW) {
      return code == SQLITE_DONE;
    }
    std::vector<SqlValue>& row = table.rows.emplace_back();
    for (int i = 0; i < columns; ++i) {
      row.push_back(column(statement, i));
    }
  }
}

// What a user's query may do: select, read columns, call functions, recurse.
int allow_reading(void* /*unused*/, int action, const char* /*a*/, const char* second, const char* /*c*/,
                  const char* /*d*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

class ReadingOnly {
 public:
  explicit ReadingOnly(sqlite3* handle) : handle_(handle) { ::sqlite3_set_authorizer(handle_, allow_reading, nullptr); }
  ~ReadingOnly() { ::sqlite3_set_authorizer(handle_, nullptr, nullptr); }
  ReadingOnly(const ReadingOnly&) = delete;
  ReadingOnly& operator=(const ReadingOnly&) = delete;

 private:
  sqlite3* handle_;
};

}  // namespace

std::string sql_text(const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return fmt::format("{}", *whole);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return fmt::format("{}", *number);
  }
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

Database::Database(const std::string& path, Mode mode) : path_(path) {
  if (mode == Mode::read) {
    if (const auto reason = unreadable_reason(path)) {
      throw InputError({path}, "the database cannot be read: " + *reason);
    }
  }
  const int flags = mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (::sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string why = handle_ == nullptr ? "no memory" : ::sqlite3_errmsg(handle_);
    ::sqlite3_close(handle_);
    throw InputError({path}, "the database cannot be opened: " + why);
  }
  ::sqlite3_busy_timeout(handle_, kWaitMilliseconds);
  // A misspelt column is an error, not a string.
  ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  try {
    check();
  } catch (const InputError&) {
    ::sqlite3_close(handle_);
    throw;
  }
}

void Database::check() {
  std::string finding;
  try {
    static_cast<void>(query("SELECT count(*) FROM sqlite_master"));  // reads the file's first page
    finding = sql_text(query("PRAGMA integrity_check(1)").rows.at(0).at(0));
  } catch (const InputError&) {
    const int code = ::sqlite3_errcode(handle_);
    if (code == SQLITE_NOTADB) {
      throw InputError({path_}, std::string("this is no database: ") + ::sqlite3_errmsg(handle_));
    }
    if (code != SQLITE_CORRUPT) {  // busy, say
      throw;
    }
    finding = ::sqlite3_errmsg(handle_);
  }
  if (finding != "ok") {
    refuse_damaged(finding);
  }
}

void Database::refuse_damaged(const std::string& finding) const {
  std::string line = finding;
  std::replace(line.begin(), line.end(), '\n', ' ');
  throw InputError({path_}, fmt::format("the database is damaged: {}", line),
                   "restore a copy of it, or save what can be read (sqlite3 OLD .recover | sqlite3 NEW)");
}

Database::~Database() {
  ::sqlite3_close(handle_);
}

void Database::run(const std::string& statements) {
  if (::sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    refuse(*this, "the database refuses");
  }
}

SqlTable Database::query(const std::string& statement, const std::vector<SqlValue>& values) {
  sqlite3_stmt* raw = nullptr;
  if (::sqlite3_prepare_v2(handle_, statement.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    refuse(*this, "the database refuses");
  }
  const Prepared prepared(raw);
  for (std::size_t i = 0; i < values.size(); ++i) {
    bind(raw, static_cast<int>(i) + 1, values[i]);
  }
  SqlTable table;
  if (!fetch(raw, table)) {
    refuse(*this, "the database refuses");
  }
  return table;
}

SqlTable Database::query_of_user(const std::string& statement, const std::string& place) {
  const ReadingOnly guard(handle_);
  const auto refused = [&](int code) {
    return code == SQLITE_AUTH
               ? InputError({place}, "this statement does more than read", "queries only read")
               : InputError({place}, ::sqlite3_errmsg(handle_), "docs/explorations.md lists the tables and columns");
  };
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  if (const int code = ::sqlite3_prepare_v2(handle_, statement.c_str(), -1, &raw, &rest); code != SQLITE_OK) {
    throw refused(code);
  }
  const Prepared prepared(raw);
  if (raw == nullptr) {
    throw InputError({place}, "there is no statement");
  }
  sqlite3_stmt* more = nullptr;
  const int code = ::sqlite3_prepare_v2(handle_, rest, -1, &more, nullptr);
  const Prepared second(more);
  if (code != SQLITE_OK || more != nullptr) {
    throw InputError({place}, "there is more than one statement", "give one");
  }
  SqlTable table;
  if (::sqlite3_stmt_readonly(raw) == 0 || ::sqlite3_column_count(raw) == 0) {
    throw InputError({place}, "this statement does more than read", "queries only read");
  }
  if (!fetch(raw, table)) {
    throw refused(::sqlite3_errcode(handle_));
  }
  return table;
}

Statement::Statement(Database& database, const std::string& text) : database_(database) {
  if (::sqlite3_prepare_v3(database.handle(), text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) !=
      SQLITE_OK) {
    refuse(database, "the database refuses");
  }
}

Statement::~Statement() {
  ::sqlite3_finalize(statement_);
}

void Statement::run(const std::vector<SqlValue>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    bind(statement_, static_cast<int>(i) + 1, values[i]);
  }
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) {
    code = ::sqlite3_step(statement_);
  }
  ::sqlite3_reset(statement_);
  if (code != SQLITE_DONE) {
    refuse(database_, "the database refuses");
  }
}

Transaction::~Transaction() {
  if (open_) {
    ::sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + "\"";
}

}  // namespace heddle::studies
