#include "tests/support/sweep_database.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <thread>

#include "studies/database/sqlite.hpp"

namespace heddle::test {

namespace fs = std::filesystem;

std::vector<std::string> column(const std::string& database, const std::string& query) {
  studies::Database opened(database, studies::Database::Mode::read);
  std::vector<std::string> out;
  for (const std::vector<studies::SqlValue>& row : opened.query(query).rows) {
    out.push_back(studies::sql_text(row.front()));
  }
  return out;
}

std::vector<std::string> contents(const std::string& database) {
  studies::Database opened(database, studies::Database::Mode::read);
  studies::SqlTable table = opened.query("SELECT * FROM results ORDER BY point, repetition");
  std::vector<std::string> out;
  for (const std::vector<studies::SqlValue>& row : table.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& name = table.columns[i];
      if (name != "id" && !name.starts_with("host")) {
        line += name + "=" + studies::sql_text(row[i]) + "\n";
      }
    }
    out.push_back(line);
  }
  return out;
}

std::uint64_t rows(const std::string& database) {
  if (!fs::exists(database)) {
    return 0;
  }
  try {
    return std::stoull(column(database, "SELECT count(*) FROM runs")[0]);
  } catch (const std::exception&) {  // just being made
    return 0;
  }
}

void wait_for_rows(const std::string& database, std::uint64_t wanted) {
  for (int i = 0; i < 6000 && rows(database) < wanted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace heddle::test
