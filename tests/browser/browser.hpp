// A headless Chromium, driven through chromedriver (W3C WebDriver over HTTP on the loopback interface).
#pragma once

#include <boost/json/value.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "os/process/child_process.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::test {

class Browser {
 public:
  enum class Scheme { light, dark };
  // Throws std::runtime_error when no browser starts.
  explicit Browser(Scheme scheme = Scheme::light);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // Opens a file and waits until the page says that it stands (documentElement.dataset.ready); returns the seconds from
  // the start of the navigation to then, by the page's own clock. Throws when it takes longer than `seconds`.
  double open(const std::string& path, double seconds = 30);
  // Opens a file that has no scripts to wait for.
  void show(const std::string& path);
  // Runs the body of a function in the page and returns what it returns.
  boost::json::value run(const std::string& script);
  // Clicks, as a user does, on the first element that the CSS selector finds; scrolls to it first.
  void click(const std::string& selector);
  // What the console has said since the last call, of level SEVERE (errors, uncaught exceptions, refused loads).
  std::vector<std::string> errors();
  // A window of this size, in CSS pixels: 390 x 844 is a telephone's.
  void resize(unsigned width, unsigned height);
  // The page as a PNG of what is in view.
  void screenshot(const std::string& path);
  // The page as it would be printed, as PDF.
  std::string print();

 private:
  boost::json::value call(const std::string& method, const std::string& path, const boost::json::value& body);
  void start_driver();
  void start_session();
  void stop();
  Scheme scheme_;
  std::optional<os::ChildProcess> driver_;
  os::Descriptor output_;  // of the driver
  unsigned port_ = 0;
  std::string session_;
  std::filesystem::path profile_;
};

// What a script returned, as the text that it is.
[[nodiscard]] inline std::string text(const boost::json::value& value) {
  return std::string(value.as_string());
}

}  // namespace heddle::test
