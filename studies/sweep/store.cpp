#include "studies/sweep/store.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ctime>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "hw/state/idle_cause.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/file_lock.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/summary.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies::sweep {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using Group = Column::Group;

constexpr std::string_view kIdlePrefix = "idle_cycles_by_cause";
constexpr const char* kEnergyPrefix = "energy_";  // and a kind of unit

std::string underscored(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return out;
}

void add_statistics(std::vector<Column>& columns) {
  const tb::Summary summary;
  summary.describe([&](std::string_view name, const auto& field, std::string_view unit, std::string_view meaning) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, tb::IdleByCause>) {
      for (const auto& cause : hw::kIdleCauses) {
        columns.push_back({underscored(fmt::format("idle_cycles_{}", cause.name)), "INTEGER", Group::statistic,
                           std::string(unit), std::string(cause.meaning)});
      }
    } else {
      const bool whole = std::is_same_v<Field, std::uint64_t>;
      const bool real = std::is_same_v<Field, double>;
      columns.push_back({std::string(name),
                         whole  ? "INTEGER"
                         : real ? "REAL"
                                : "TEXT",
                         Group::statistic, std::string(unit),
                         std::string(meaning) + (std::is_same_v<Field, std::vector<std::uint64_t>> ? " (JSON)" : "")});
    }
  });
}

// Of runs that an energy table prices; NULL for other runs, and for kinds of units that the table leaves out.
void add_energy(std::vector<Column>& columns) {
  columns.push_back({"energy_total", "REAL", Group::statistic, "pJ", "by the energy table"});
  columns.push_back({"mean_power", "REAL", Group::statistic, "mW", "energy over the time that the cycles take"});
  columns.push_back({"peak_power", "REAL", Group::statistic, "mW", "the largest of an interval (power_interval)"});
  columns.push_back({"energy_delay_product", "REAL", Group::statistic, "pJ ns", "energy times that time"});
  for (const tb::EnergyKind& kind : tb::energy_kinds()) {
    columns.push_back({kEnergyPrefix + kind.name, "REAL", Group::statistic, "pJ",
                       fmt::format("of units of the kind {}: activities and leakage", kind.name)});
  }
}

std::vector<Column> make_columns() {
  std::vector<Column> columns = {
      {"key", "TEXT", Group::run, "", "digest of all that the result depends on; unique"},
      {"status", "TEXT", Group::run, "", "done, wrong, fault, stopped, refused, timeout, memory or crashed"},
      {"message", "TEXT", Group::run, "", "why the run is not done"},
      {"config", "TEXT", Group::run, "", "the machine that the exploration starts from"},
      {"workload", "TEXT", Group::run, "", "with its variants, or the path of a LAUNCH.toml"},
      {"scale", "REAL", Group::run, "", "size of the workload's input; NULL of a LAUNCH.toml"},
      {"seed", "INTEGER", Group::run, "", "of the workload's input; repetitions count it up; NULL of a LAUNCH.toml"},
      {"address_bits", "INTEGER", Group::run, "bits", "pointers of the compiled kernel"},
      {"max_cycles", "INTEGER", Group::run, "cycles", "limit of simulated cycles; 0: none"},
      {"energy", "TEXT", Group::run, "", "the energy table by which the run is priced; NULL: none"},
      {"temperature", "REAL", Group::run, "degrees Celsius", "of the machine, for leakage; NULL: the energy table's"},
      {"power_interval", "INTEGER", Group::run, "cycles", "of which peak_power is a mean; NULL: no energy table"},
      {"version", "TEXT", Group::run, "", "of Heddle"},
      {"build", "TEXT", Group::run, "", "version and digest of the program that ran"},
      {"threads", "INTEGER", Group::run, "threads", "of the largest launch"}};
  add_statistics(columns);
  add_energy(columns);
  hw::Machine machine;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    const std::string_view type = parameter.type_name();
    columns.push_back({underscored(parameter.path()),
                       type == "string"   ? "TEXT"
                       : type == "number" ? "REAL"
                                          : "INTEGER",
                       Group::parameter, parameter.unit, parameter.meaning});
  }
  columns.push_back({"energy_by_kernel", "TEXT", Group::detail, "pJ", "of the launches of each kernel (JSON)"});
  columns.push_back({"warp_sizes", "TEXT", Group::detail, "", "kernels with a warp size of their own (JSON)"});
  columns.push_back({"modules", "TEXT", Group::detail, "", "every module's own counters, as in stats.json (JSON)"});
  columns.push_back({"host", "TEXT", Group::host, "", "name of the machine that ran it"});
  columns.push_back({"host_date", "TEXT", Group::host, "", "when the result arrived, UTC"});
  const tb::HostCost none;
  tb::HostCost::describe(none, [&](const char* name, auto value, const char* unit, const char* meaning) {
    const char* const type = std::is_same_v<decltype(value), double> ? "REAL" : "INTEGER";
    columns.push_back({std::string("host_") + name, type, Group::host, unit, meaning});
  });
  return columns;
}

SqlValue sql_value(const json::value& value) {
  if (value.is_int64() || value.is_uint64()) {
    return static_cast<std::int64_t>(value.is_int64() ? value.get_int64()
                                                      : static_cast<std::int64_t>(value.get_uint64()));
  }
  if (value.is_double()) {
    return value.get_double();
  }
  if (value.is_string()) {
    return std::string(value.get_string());
  }
  return value.is_null() ? SqlValue() : SqlValue(json::serialize(value));
}

// A double column keeps 2 as 2.0.
SqlValue as_column(SqlValue value, const std::string& type) {
  if (type == "REAL" && std::holds_alternative<std::int64_t>(value)) {
    return static_cast<double>(std::get<std::int64_t>(value));
  }
  return value;
}

SqlValue sql_value(const ParameterReference& parameter) {
  return std::visit(
      [](const auto* field) -> SqlValue {
        using Field = std::remove_cv_t<std::remove_pointer_t<decltype(field)>>;
        if constexpr (std::is_same_v<Field, std::string> || std::is_same_v<Field, double>) {
          return *field;
        } else {
          return static_cast<std::int64_t>(*field);
        }
      },
      parameter.field);
}

void put_statistics(std::map<std::string, SqlValue>& values, const std::string& stats) {
  const json::object root = json::parse(stats).as_object();
  values["threads"] = sql_value(root.at("threads"));
  for (const auto& [name, value] : root.at("summary").as_object()) {
    if (name == json::string_view(kIdlePrefix.data(), kIdlePrefix.size())) {
      for (const auto& [cause, cycles] : value.as_object()) {
        values[underscored(fmt::format("idle_cycles_{}", std::string_view(cause)))] = sql_value(cycles);
      }
    } else {
      values[std::string(name)] = sql_value(value);
    }
  }
  if (const json::value* const priced = root.if_contains("energy")) {
    const json::object& energy = priced->as_object();
    values["energy_total"] = sql_value(energy.at("pj"));
    values["mean_power"] = sql_value(energy.at("average_mw"));
    values["energy_delay_product"] = sql_value(energy.at("delay_product"));
    if (const json::value* const power = energy.if_contains("power")) {
      values["peak_power"] = sql_value(power->at("peak_mw"));
      json::object kernels;
      for (const json::value& kernel : power->at("kernels").as_array()) {
        kernels[kernel.at("kernel").as_string()] = kernel.at("pj");
      }
      values["energy_by_kernel"] = json::serialize(kernels);
    }
    for (const auto& [kind, figures] : energy.at("kinds").as_object()) {
      values[kEnergyPrefix + std::string(kind)] = sql_value(figures.as_object().at("pj"));
    }
  }
  values["warp_sizes"] = json::serialize(root.at("warp_sizes"));
  values["modules"] = json::serialize(root.at("modules"));
}

void make_tables(Database& database) {
  std::string runs = "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY";
  for (const Column& column : run_columns()) {
    runs += ", " + sql_name(column.name) + " " + column.type;
    runs += column.name == "key" ? " NOT NULL UNIQUE" : column.name == "status" ? " NOT NULL" : "";
  }
  Transaction all(database);
  database.run(runs + ")");
  // A database of another build may lack statistics and parameters that came since; their values are unknown there.
  const SqlTable known = database.query("SELECT name FROM pragma_table_info('runs')");
  std::set<std::string> names;
  for (const std::vector<SqlValue>& row : known.rows) {
    names.insert(sql_text(row.front()));
  }
  for (const Column& column : run_columns()) {
    if (names.count(column.name) == 0) {
      database.run("ALTER TABLE runs ADD COLUMN " + sql_name(column.name) + " " + column.type);
    }
  }
  database.run(
      "CREATE TABLE IF NOT EXISTS sweeps (id INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL,"
      " path TEXT NOT NULL, text TEXT NOT NULL, plan TEXT NOT NULL UNIQUE, version TEXT NOT NULL, build TEXT NOT NULL,"
      " points INTEGER NOT NULL, started TEXT NOT NULL, finished TEXT);"
      "CREATE TABLE IF NOT EXISTS axes (sweep INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL,"
      " column TEXT NOT NULL, PRIMARY KEY (sweep, position)) WITHOUT ROWID;"
      "CREATE TABLE IF NOT EXISTS points (sweep INTEGER NOT NULL, point INTEGER NOT NULL, repetition INTEGER NOT NULL,"
      " key TEXT NOT NULL, PRIMARY KEY (sweep, point, repetition)) WITHOUT ROWID;"
      "DROP VIEW IF EXISTS results;"
      "CREATE VIEW results AS SELECT points.sweep, points.point, points.repetition, runs.*"
      " FROM points JOIN runs ON runs.key = points.key;" +
      fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kDatabaseSchema, kApplicationId));
  all.commit();
}

}  // namespace

class Store::Lock : public os::FileLock {
 public:
  using os::FileLock::FileLock;
};

const std::vector<Column>& run_columns() {
  static const std::vector<Column> columns = make_columns();
  return columns;
}

std::string column_name(std::string_view word) {
  std::string out(word);
  std::replace(out.begin(), out.end(), '.', '_');
  return out;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string date_text() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

namespace {

// What a database of this schema has, whichever build wrote it. Damage can leave a file whole in SQLite's eyes.
void check_contents(Database& database) {
  static const std::map<std::string, std::vector<std::string>> kTables = {
      {"runs", {"id", "key", "status", "message", "workload", "cycles", "fu_active_cycles", "warp_sizes", "modules"}},
      {"sweeps", {"id", "name", "path", "text", "plan", "build", "points", "started", "finished"}},
      {"axes", {"sweep", "position", "name", "column"}},
      {"points", {"sweep", "point", "repetition", "key"}},
      {"results", {"sweep", "point", "repetition", "key", "status"}}};
  for (const auto& [table, columns] : kTables) {
    std::set<std::string> names;
    for (const std::vector<SqlValue>& row : database.query("SELECT name FROM pragma_table_info(?1)", {table}).rows) {
      names.insert(sql_text(row.front()));
    }
    for (const std::string& column : columns) {
      if (names.count(column) == 0) {
        database.refuse_damaged(names.empty() ? fmt::format("the table '{}' is missing", table)
                                              : fmt::format("the table '{}' has no '{}'", table, column));
      }
    }
  }
  const SqlTable odd =
      database.query(fmt::format("SELECT id, status FROM runs WHERE status NOT IN ('{}') OR length(key) = 0 LIMIT 1",
                                 fmt::join(status::kAll, "', '")));
  if (!odd.rows.empty()) {
    database.refuse_damaged(
        fmt::format("row {} of 'runs' has the status '{}'", sql_text(odd.rows[0][0]), sql_text(odd.rows[0][1])));
  }
  for (const char* const column : {"modules", "warp_sizes", "fu_active_cycles"}) {  // most of a database's bytes
    const SqlTable broken = database.query(
        fmt::format("SELECT id FROM runs WHERE {0} IS NOT NULL AND NOT json_valid({0}) LIMIT 1", column));
    if (!broken.rows.empty()) {
      database.refuse_damaged(
          fmt::format("row {} of 'runs' has a '{}' that is no JSON", sql_text(broken.rows[0][0]), column));
    }
  }
}

}  // namespace

void check_schema(Database& database, bool may_be_empty) {
  const auto pragma = [&](const char* text) { return std::get<std::int64_t>(database.query(text).rows[0][0]); };
  const bool empty = pragma("SELECT count(*) FROM sqlite_master") == 0;
  if (empty && may_be_empty) {
    return;
  }
  if (empty || pragma("PRAGMA application_id") != kApplicationId) {
    throw InputError({database.path()}, "is no database of explorations", "heddle sweep writes one");
  }
  if (const std::int64_t schema = pragma("PRAGMA user_version"); schema != kDatabaseSchema) {
    throw InputError({database.path()}, fmt::format("is of schema {}", schema),
                     fmt::format("this program reads schema {}", kDatabaseSchema));
  }
  check_contents(database);
}

Store::Store(const std::string& path) {
  const fs::path file(path);
  if (file.has_parent_path()) {
    os::make_folder(file.parent_path().string());
  }
  lock_ =
      std::make_unique<Lock>((file.parent_path() / ("." + file.filename().string() + ".lock")).string(), path,
                             "another sweep is writing to this database", "wait for it, or name another --database");
  database_ = std::make_unique<Database>(path, Database::Mode::write);
  check_schema(*database_, true);
  struct stat opened {};
  if (::stat(path.c_str(), &opened) == 0) {
    device_ = opened.st_dev;
    file_ = opened.st_ino;
  }
  // Readers see every run as soon as it is there and do not hold the sweep up. A write-ahead log that is not
  // synchronised at every commit survives any end of the process; only a crash of the whole host can take the last
  // runs, and no more.
  static_cast<void>(database_->query("PRAGMA journal_mode = WAL"));
  database_->run("PRAGMA synchronous = NORMAL");
  make_tables(*database_);
  std::string names;
  std::string values;
  for (std::size_t i = 0; i < run_columns().size(); ++i) {
    names += (i == 0 ? "" : ", ") + sql_name(run_columns()[i].name);
    values += fmt::format("{}?{}", i == 0 ? "" : ", ", i + 1);
  }
  insert_ = std::make_unique<Statement>(*database_,
                                        fmt::format("INSERT OR REPLACE INTO runs ({}) VALUES ({})", names, values));
}

void Store::check_in_place() const {
  struct stat named {};
  const bool there = ::stat(database_->path().c_str(), &named) == 0;
  if (!there || named.st_dev != device_ || named.st_ino != file_) {
    throw InputError({database_->path()},
                     fmt::format("the database has been {} while the sweep wrote to it, and what came since is lost",
                                 there ? "replaced by another file" : "removed or moved"),
                     "the same command does what is missing");
  }
}

Store::~Store() {
  insert_.reset();
  try {                // one file again, without the log beside it; a reader that is just looking keeps it
    check_in_place();  // what lies beside another file belongs to it
    static_cast<void>(database_->query("PRAGMA journal_mode = DELETE"));
  } catch (const InputError&) {
  }
}

std::string Store::objection(const Exploration& exploration, const Plan& plan) {
  const SqlTable sweeps = database_->query("SELECT plan, name, text, build FROM sweeps ORDER BY id DESC");
  if (sweeps.rows.empty()) {
    return {};
  }
  for (const std::vector<SqlValue>& sweep : sweeps.rows) {
    if (sql_text(sweep[0]) == plan.digest()) {
      return {};
    }
  }
  const std::vector<SqlValue>& last = sweeps.rows.front();
  if (sql_text(last[2]) == exploration.text) {
    return sql_text(last[3]) == plan.build()
               ? "holds this exploration with machines, launch files or compiled kernels that have changed since"
               : fmt::format("holds this exploration as another build of Heddle ran it ({})", sql_text(last[3]));
  }
  return fmt::format("holds another exploration, or an earlier text of this one ({})", sql_text(last[1]));
}

void Store::begin(const Exploration& exploration, const Plan& plan) {
  build_ = plan.build();
  const SqlTable known = database_->query("SELECT id FROM sweeps WHERE plan = ?1", {plan.digest()});
  if (!known.rows.empty()) {
    sweep_ = std::get<std::int64_t>(known.rows.front().front());
    return;
  }
  Transaction all(*database_);
  sweep_ = std::get<std::int64_t>(
      database_
          ->query("INSERT INTO sweeps (name, description, path, text, plan, version, build, points, started)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id",
                  {exploration.name, exploration.description, exploration.path, exploration.text, plan.digest(),
                   std::string(tb::version()), build_, static_cast<std::int64_t>(plan.entries().size()), date_text()})
          .rows.front()
          .front());
  std::int64_t position = 0;
  for (const std::string& name : exploration.varied()) {
    static_cast<void>(
        database_->query("INSERT INTO axes VALUES (?1, ?2, ?3, ?4)", {sweep_, ++position, name, column_name(name)}));
  }
  Statement point(*database_, "INSERT INTO points VALUES (?1, ?2, ?3, ?4)");
  for (const Plan::Entry& entry : plan.entries()) {
    point.run(
        {sweep_, static_cast<std::int64_t>(entry.number), static_cast<std::int64_t>(entry.repetition), entry.key});
  }
  all.commit();
}

void Store::end() {
  static_cast<void>(
      database_->query("UPDATE sweeps SET finished = ?1 WHERE id = ?2 AND finished IS NULL", {date_text(), sweep_}));
}

std::map<std::string, std::string> Store::runs() {
  std::map<std::string, std::string> found;
  for (const std::vector<SqlValue>& row : database_->query("SELECT key, status FROM runs").rows) {
    found.emplace(sql_text(row[0]), sql_text(row[1]));
  }
  return found;
}

std::string Store::first_refusal() {
  const SqlTable found = database_->query(
      "SELECT message FROM results WHERE sweep = ?1 AND status = ?2 ORDER BY point, repetition LIMIT 1",
      {sweep_, std::string(status::kRefused)});
  return found.rows.empty() ? std::string() : sql_text(found.rows[0][0]);
}

void Store::put(const Point& point, const RunReport& report) {
  check_in_place();
  static const std::string host = host_name();
  const RunOrder& order = point.order;
  std::map<std::string, SqlValue> values;
  values["key"] = point.key;
  values["status"] = report.status;
  values["message"] = report.message;
  values["config"] = point.config;
  values["workload"] = order.workload;
  if (!is_launch_file(order.workload)) {  // which has neither
    values["scale"] = order.scale;
    values["seed"] = static_cast<std::int64_t>(order.seed);
  }
  values["address_bits"] = std::int64_t{order.address_bits};
  values["max_cycles"] = static_cast<std::int64_t>(order.max_cycles);
  if (!point.energy.empty()) {
    values["energy"] = point.energy;
    values["power_interval"] = static_cast<std::int64_t>(order.power_interval);
    if (order.celsius) {
      values["temperature"] = *order.celsius;
    }
  }
  values["version"] = std::string(tb::version());
  values["build"] = build_;
  hw::Machine machine = order.machine;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    values[underscored(parameter.path())] = sql_value(parameter);
  }
  if (!report.stats.empty()) {
    put_statistics(values, report.stats);
    tb::HostCost::describe(report.cost, [&](const char* name, auto value, const char*, const char*) {
      using Kept = std::conditional_t<std::is_same_v<decltype(value), double>, double, std::int64_t>;
      values[std::string("host_") + name] = static_cast<Kept>(value);
    });
  }
  if (report.status != status::kRefused) {
    values["host"] = report.host.empty() ? host : report.host;
  }
  values["host_date"] = date_text();
  std::vector<SqlValue> row;
  row.reserve(run_columns().size());
  for (const Column& column : run_columns()) {
    row.push_back(as_column(std::move(values[column.name]), column.type));
  }
  insert_->run(row);
}

void Store::all_at_once(const std::function<void()>& puts) {
  Transaction all(*database_);
  puts();
  all.commit();
}

}  // namespace heddle::studies::sweep
