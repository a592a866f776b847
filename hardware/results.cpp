#include "hardware/results.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>

namespace heddle::hardware {
namespace {

constexpr int kFormat = 1;

std::string now() {
  char text[32];
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

const std::string& name_of(const Json& row) {
  return row["name"].string("'name' of a row");
}

}  // namespace

Results::Results(std::string path, std::string campaign) : path_(std::move(path)), campaign_(std::move(campaign)) {
  if (!std::filesystem::exists(path_)) return;
  const Json file = Json::parse(read_file(path_), path_);
  if (!file["format"].is_number() || file["format"].number("format") != kFormat || !file["rows"].is_array()) {
    throw Bad(path_ + ": this is no file of results (\"format\": 1); name another with --out");
  }
  if (file["campaign"].string(path_ + ": 'campaign'") != campaign_) {
    throw Bad(path_ + ": these are results of the campaign '" + file["campaign"].string("") +
              "'; name another file with --out");
  }
  device_ = file["device"];
  if (file["date"].is_string()) date_ = file["date"].string("date");
  if (file["clock"].is_array()) clocks_ = file["clock"].array("clock");
  rows_ = file["rows"].array("rows");
  for (const Json& row : rows_) (void)name_of(row);
}

void Results::keep(const std::vector<Item>& items) {
  std::map<std::string, std::string> keys;
  for (const Item& item : items) keys[item.name] = item.key;
  std::erase_if(rows_, [&](const Json& row) {
    const auto found = keys.find(name_of(row));
    return found == keys.end() || !row["key"].is_string() || row["key"].string("key") != found->second;
  });
}

bool Results::has(const Item& item) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Json& row) { return name_of(row) == item.name; });
}

void Results::set(const std::vector<Item>& items, Json row) {
  std::erase_if(rows_, [&](const Json& other) { return name_of(other) == name_of(row); });
  rows_.push_back(std::move(row));
  std::map<std::string, std::size_t> places;
  for (const Item& item : items) places.emplace(item.name, places.size());
  std::stable_sort(rows_.begin(), rows_.end(),
                   [&](const Json& a, const Json& b) { return places.at(name_of(a)) < places.at(name_of(b)); });
}

void Results::set_device(const Json& device) {
  if (!device_.is_null() && device_.text() != device.text()) {
    throw Bad(path_ + ": these are results of " + device_["name"].string("name") + ", driver " +
              device_["driver"].text() + "; here is " + device["name"].string("name") + ", driver " +
              device["driver"].text() + ": name another file with --out");
  }
  device_ = device;
}

void Results::add_clock(Json clock) {
  clock.set("date", now());
  if (date_.empty()) date_ = now();
  clocks_.push_back(std::move(clock));
}

void Results::save() const {
  Json file;
  file.set("format", kFormat);
  file.set("campaign", campaign_);
  file.set("date", date_);
  file.set("device", device_);
  file.set("clock", clocks_);
  file.set("rows", rows_);
  const std::string text = file.lines();
  const std::string beside = path_ + ".new";
  std::FILE* const out = std::fopen(beside.c_str(), "w");
  if (out == nullptr) throw Bad(beside + ": cannot be written");
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0;
  if (std::fclose(out) != 0 || !written || std::rename(beside.c_str(), path_.c_str()) != 0) {
    throw Bad(path_ + ": cannot be written");
  }
}

}  // namespace heddle::hardware
