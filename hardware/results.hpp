// The file of results. It is whole at any time: written anew beside itself and renamed after each row.
#pragma once

#include <string>
#include <vector>

#include "hardware/campaign.hpp"
#include "hardware/json.hpp"

namespace heddle::hardware {

class Results {
 public:
  // Reads the file where there is one. Throws Bad for a file that is none of results, or of another campaign.
  Results(std::string path, std::string campaign);

  // Forgets rows that belong to no item, or to what one was before it changed.
  void keep(const std::vector<Item>& items);
  [[nodiscard]] bool has(const Item& item) const;
  // In place of the item's earlier row, in the order of the items.
  void set(const std::vector<Item>& items, Json row);
  // Throws Bad where the file is of another device or driver.
  void set_device(const Json& device);
  void add_clock(Json clock);
  void save() const;
  [[nodiscard]] const Json::Array& rows() const { return rows_; }

 private:
  std::string path_;
  std::string campaign_;
  Json device_;
  std::string date_;
  Json::Array clocks_, rows_;
};

}  // namespace heddle::hardware
