#include "tests/support/slurm_cluster.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <thread>

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

int free_port() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool good = ::bind(file, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                    ::getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(file);
  if (!good) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

std::string user() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? "root" : entry->pw_name;
}

}  // namespace

SlurmCluster::SlurmCluster(unsigned largest_array) {
  fs::permissions(scratch_.path(), fs::perms(0755));  // munged's clients reach its socket through it
  for (const char* folder : {"state", "spool", "munge"}) {
    fs::create_directory(scratch_.path(folder));
    fs::permissions(scratch_.path(folder), fs::perms(0755));
  }
  std::string key;
  std::random_device random;
  while (key.size() < 128) {
    key += static_cast<char>(random() & 0xffU);
  }
  fs::permissions(scratch_.write("munge/key", key), fs::perms(0600));
  const std::string in = scratch_.path();
  // More processors than there are, so that tasks wait for Slurm and not for each other.
  scratch_.write("slurm.conf",
                 "ClusterName=heddle\nSlurmctldHost=" + host() + "(127.0.0.1)\nSlurmUser=" + user() +
                     "\nSlurmdUser=" + user() + "\nSlurmctldPort=" + std::to_string(free_port()) +
                     "\nSlurmdPort=" + std::to_string(free_port()) + "\nAuthType=auth/munge\nAuthInfo=socket=" + in +
                     "munge/socket\nCredType=cred/munge\nStateSaveLocation=" + in + "state\nSlurmdSpoolDir=" + in +
                     "spool\nSlurmctldPidFile=" + in + "slurmctld.pid\nSlurmdPidFile=" + in +
                     "slurmd.pid\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
                     "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
                     "MpiDefault=none\nSwitchType=switch/none\nSelectType=select/cons_tres\n"
                     "SelectTypeParameters=CR_CPU\nSlurmdParameters=config_overrides\nReturnToService=2\n"
                     "SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0\nMaxArraySize=" +
                     std::to_string(largest_array) + "\nNodeName=" + host() +
                     " NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n"
                     "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n");
  start({"munged", "--foreground", "--socket=" + in + "munge/socket", "--key-file=" + in + "munge/key",
         "--pid-file=" + in + "munge/pid", "--log-file=" + in + "munge/log", "--seed-file=" + in + "munge/seed"});
  for (int i = 0; i < 500 && !fs::exists(in + "munge/socket"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  start({"slurmctld", "-i", "-D"});
  start({"slurmd", "-D"});
  for (int i = 0; i < 150; ++i) {
    const Ran nodes = ask({"sinfo", "--noheader", "--format=%t"});
    if (nodes.code == kNotStarted) {
      fail("Slurm is not installed (cmake/packages/test.txt lists its packages)");
    }
    if (nodes.code == 0 && nodes.out == "idle\n") {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  fail("Slurm does not come up");
}

SlurmCluster::~SlurmCluster() {
  stop();
}

void SlurmCluster::start(const std::vector<std::string>& words) {
  const std::string log = scratch_.path(words.front() + ".log");
  const std::string configuration = scratch_.path("slurm.conf");
  os::ProcessSetup setup;
  setup.out = os::Redirection::file(log);
  setup.err = os::Redirection::output();
  // Debian keeps daemons where an ordinary user's path does not lead.
  setup.environment = {"SLURM_CONF=" + configuration, std::string("PATH=") + std::getenv("PATH") + ":/usr/sbin:/sbin"};
  try {
    processes_.push_back(os::ChildProcess::start(words, setup));
  } catch (const os::StartError& error) {
    fail(error.what());
  }
}

void SlurmCluster::stop() {
  while (!processes_.empty()) {
    os::ChildProcess& process = processes_.back();
    process.send(SIGTERM);
    for (int i = 0; i < 150 && !process.poll(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    processes_.pop_back();  // killed, should it still run
  }
}

std::string SlurmCluster::logs() const {
  std::string out;
  for (const char* name : {"munged.log", "munge/log", "slurmctld.log", "slurmd.log"}) {
    out += std::string("---- ") + name + "\n" + Scratch::read(scratch_.path(name));
  }
  return out;
}

void SlurmCluster::fail(const std::string& why) {
  const std::string text = why + "\n" + logs();
  stop();
  throw std::runtime_error(text);
}

}  // namespace heddle::test
