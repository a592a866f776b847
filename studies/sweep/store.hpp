// The database of explorations: one row per run, whole or absent, whatever ends the process that writes. Schema:
// docs/explorations.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "studies/database/sqlite.hpp"
#include "studies/sweep/order.hpp"
#include "studies/sweep/plan.hpp"

namespace heddle::studies::sweep {

inline constexpr int kDatabaseSchema = 1;

struct Column {
  enum class Group { run, statistic, parameter, detail, host };
  std::string name;  // as SQL has it
  std::string type;  // INTEGER, REAL or TEXT
  Group group = Group::run;
  std::string unit;
  std::string meaning;
};
// Of the table runs, in order, behind its `id`.
[[nodiscard]] const std::vector<Column>& run_columns();

// The column that a user's word means: its name, or a parameter's path ("core.warp_size").
[[nodiscard]] std::string column_name(std::string_view word);

// What `file` and sqlite3 show of a database of ours: "Hedl".
inline constexpr int kApplicationId = 0x4865646c;

// Throws InputError when this is no database of explorations of this schema, or lacks part of one; `may_be_empty`: or
// one without anything.
void check_schema(Database& database, bool may_be_empty);

class Store {
 public:
  // Opens for writing, makes what is missing, and keeps every other sweep out until destroyed. Throws InputError: no
  // database of this schema, no room, another sweep is writing.
  explicit Store(const std::string& path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // What stands in the way of adding a sweep of this plan without being asked to: the database holds other sweeps only.
  // Empty when it holds this sweep or none at all.
  [[nodiscard]] std::string objection(const Exploration& exploration, const Plan& plan);

  // Records the sweep and its points, or finds them there. Throws InputError.
  void begin(const Exploration& exploration, const Plan& plan);
  void end();  // the sweep is complete

  // Every run that is there: key to status.
  [[nodiscard]] std::map<std::string, std::string> runs();
  // Of this sweep's points that were refused, the first one's message; empty: none was.
  [[nodiscard]] std::string first_refusal();
  // Throws InputError when the database is no longer the file that its path leads to: it has been removed, moved or
  // replaced, and what is written to it is lost.
  void check_in_place() const;
  // Adds or replaces a run. When this returns it is there for good, except for a crash of the whole host. Throws
  // InputError, also as check_in_place() does.
  void put(const Point& point, const RunReport& report);
  // Many at once.
  void all_at_once(const std::function<void()>& puts);

 private:
  class Lock;
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> insert_;
  std::int64_t sweep_ = 0;
  std::string build_;
  std::uint64_t device_ = 0;  // of the database's file, with its number there
  std::uint64_t file_ = 0;
};

// Of this machine.
[[nodiscard]] std::string host_name();

// "2026-11-21T04:05:06Z"
[[nodiscard]] std::string date_text();

}  // namespace heddle::studies::sweep
