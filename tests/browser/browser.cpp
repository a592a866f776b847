#include "browser/browser.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace heddle::test {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

class Connection {
 public:
  explicit Connection(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval limit{60, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      ::close(socket_);
      throw std::runtime_error("chromedriver does not answer");
    }
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The body of the answer to one request.
  std::string exchange(const std::string& request) {
    for (std::size_t sent = 0; sent < request.size();) {
      const ssize_t count = ::send(socket_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) {
        throw std::runtime_error("chromedriver takes no request");
      }
      sent += static_cast<std::size_t>(count);
    }
    std::string answer;
    std::size_t whole = std::string::npos;
    while (answer.size() < whole) {
      std::array<char, 65536> part;
      const ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
      if (count <= 0) {
        throw std::runtime_error("chromedriver's answer ends early: " + answer.substr(0, 200));
      }
      answer.append(part.data(), static_cast<std::size_t>(count));
      if (whole == std::string::npos) {
        whole = length_of(answer);
      }
    }
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }

 private:
  // Head and body together; npos while the head has not come in full.
  static std::size_t length_of(const std::string& answer) {
    const std::size_t head = answer.find("\r\n\r\n");
    if (head == std::string::npos) {
      return std::string::npos;
    }
    constexpr std::string_view kLength = "content-length:";
    std::string lower = answer.substr(0, head);
    for (char& letter : lower) {
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    const std::size_t at = lower.find(kLength);
    if (at == std::string::npos) {
      throw std::runtime_error("chromedriver's answer has no length");
    }
    return head + 4 + std::stoul(lower.substr(at + kLength.size()));
  }
  int socket_;
};

std::string decoded_base64(const std::string& text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  unsigned buffer = 0;
  for (const char letter : text) {
    const std::size_t value = kLetters.find(letter);
    if (value == std::string_view::npos) {
      break;
    }
    buffer = buffer << 6U | static_cast<unsigned>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(buffer >> bits & 0xffU);
    }
  }
  return out;
}

}  // namespace

Browser::Browser(Scheme scheme) : scheme_(scheme) {
  std::string name = (std::filesystem::temp_directory_path() / "heddle-browser-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no folder for the browser's profile");
  }
  profile_ = name;
  try {
    start_driver();
    start_session();
  } catch (...) {
    stop();
    throw;
  }
}

Browser::~Browser() {
  stop();
}

void Browser::start_driver() {
  os::Pipe pipe = os::make_pipe();
  os::ProcessSetup setup;
  setup.own_group = true;  // with the browser that it starts
  setup.out = os::Redirection::descriptor(pipe.writes.number());
  setup.err = os::Redirection::nothing();
  driver_.emplace(os::ChildProcess::start({HEDDLE_CHROMEDRIVER, "--port=0"}, setup));
  output_ = std::move(pipe.reads);
  // "ChromeDriver was started successfully on port 43215."
  std::string said;
  const Clock::time_point last = Clock::now() + std::chrono::seconds(60);
  while (port_ == 0) {
    pollfd wait{output_.number(), POLLIN, 0};
    std::array<char, 4096> part;
    if (Clock::now() > last || ::poll(&wait, 1, 60000) <= 0) {
      throw std::runtime_error("chromedriver does not start: " + said);
    }
    const ssize_t count = ::read(output_.number(), part.data(), part.size());
    if (count <= 0) {
      throw std::runtime_error("chromedriver ended: " + said);
    }
    said.append(part.data(), static_cast<std::size_t>(count));
    constexpr std::string_view kMark = "successfully on port ";
    if (const std::size_t at = said.find(kMark); at != std::string::npos && said.find('\n', at) != std::string::npos) {
      port_ = static_cast<unsigned>(std::stoul(said.substr(at + kMark.size())));
    }
  }
}

void Browser::start_session() {
  json::array words = {"--headless",
                       "--no-sandbox",
                       "--disable-gpu",
                       "--disable-quic",
                       "--no-first-run",
                       "--disable-background-networking",
                       "--disable-component-update",
                       "--disable-sync",
                       "--disable-dev-shm-usage",
                       "--window-size=1300,900"};
  words.push_back(json::string("--user-data-dir=" + profile_.string()));
  const json::object always = {{"goog:chromeOptions", {{"args", std::move(words)}}},
                               {"goog:loggingPrefs", {{"browser", "ALL"}}}};
  const json::value made =
      call("POST", "/session", json::object{{"capabilities", json::object{{"alwaysMatch", always}}}});
  session_ = "/session/" + std::string(made.at("sessionId").as_string());
  const char* const scheme = scheme_ == Scheme::dark ? "dark" : "light";
  json::object feature = {{"name", "prefers-color-scheme"}, {"value", scheme}};
  json::array features;
  features.push_back(std::move(feature));
  call(
      "POST", session_ + "/goog/cdp/execute",
      json::object{{"cmd", "Emulation.setEmulatedMedia"}, {"params", json::object{{"features", std::move(features)}}}});
}

void Browser::stop() {
  if (!session_.empty()) {
    try {
      call("DELETE", session_, nullptr);
    } catch (const std::exception&) {
      session_.clear();  // the process group ends below
    }
  }
  if (driver_) {
    driver_->send(SIGTERM);
    driver_->wait();
    driver_.reset();
    output_.close();
  }
  std::error_code ignored;
  std::filesystem::remove_all(profile_, ignored);
}

json::value Browser::call(const std::string& method, const std::string& path, const json::value& body) {
  const std::string text = method == "POST" ? json::serialize(body) : std::string();
  const std::string request = fmt::format(
      "{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      method, path, port_, text.size(), text);
  json::value value = json::parse(Connection(port_).exchange(request)).at("value");
  if (value.is_object() && value.get_object().contains("error")) {
    throw std::runtime_error(json::serialize(value).substr(0, 600));
  }
  return value;
}

void Browser::show(const std::string& path) {
  call("POST", session_ + "/url", json::object{{"url", "file://" + std::filesystem::absolute(path).string()}});
}

double Browser::open(const std::string& path, double seconds) {
  show(path);
  const Clock::time_point last =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (run("return document.documentElement.dataset.ready || ''") != json::value("true")) {
    if (Clock::now() > last) {
      std::string said;
      for (const std::string& error : errors()) {
        said += " " + error;
      }
      throw std::runtime_error("the page does not stand:" + said);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return run("return Number(document.documentElement.dataset.readyAt) / 1000").to_number<double>();
}

json::value Browser::run(const std::string& script) {
  return call("POST", session_ + "/execute/sync", json::object{{"script", script}, {"args", json::array()}});
}

void Browser::click(const std::string& selector) {
  const json::value found =
      call("POST", session_ + "/element", json::object{{"using", "css selector"}, {"value", selector}});
  // {"element-6066-11e4-a52e-4f735466cecf": id}
  const std::string id(found.as_object().begin()->value().as_string());
  call("POST", session_ + "/element/" + id + "/click", json::object());
}

std::vector<std::string> Browser::errors() {
  std::vector<std::string> out;
  const json::value log = call("POST", session_ + "/se/log", json::object{{"type", "browser"}});
  for (const json::value& entry : log.as_array()) {
    if (entry.at("level") == json::value("SEVERE")) {
      out.emplace_back(entry.at("message").as_string());
    }
  }
  return out;
}

void Browser::resize(unsigned width, unsigned height) {
  call("POST", session_ + "/goog/cdp/execute",
       json::object{
           {"cmd", "Emulation.setDeviceMetricsOverride"},
           {"params", {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", width < 600}}}});
}

void Browser::screenshot(const std::string& path) {
  const json::value picture = call("GET", session_ + "/screenshot", nullptr);
  std::ofstream(path, std::ios::binary) << decoded_base64(std::string(picture.as_string()));
}

std::string Browser::print() {
  return decoded_base64(std::string(call("POST", session_ + "/print", json::object{{"background", true}}).as_string()));
}

}  // namespace heddle::test
