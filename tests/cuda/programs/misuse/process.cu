// What programs do to their process that a CUDA library must live with: copies of it, threads and signals in the middle
// of calls, closed descriptors, an emptied environment. The first word says what; "PASSED" comes in the end.
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

__global__ void add(int* p, int by) {
  p[blockIdx.x * blockDim.x + threadIdx.x] += by;
}
__global__ void slow(int* p, int rounds) {
  for (int i = 0; i < rounds; ++i) p[threadIdx.x] = p[threadIdx.x] * 3 + 1;
}

// Loads the neighbour first, and looks afterwards whether there is one.
__global__ void neighbours(int* p) {
  const int before = p[static_cast<int>(threadIdx.x) - 1];
  p[threadIdx.x] = threadIdx.x == 0 ? 7 : before;
}

static int* device;
constexpr int kLong = 60000;  // rounds, which take longer than the waits below

static void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}

static void begin() {
  check(cudaMalloc(&device, 4096) == cudaSuccess && cudaMemset(device, 0, 4096) == cudaSuccess, "the first calls");
}

// The device works, and has what was added to it so far.
static void use(int expected) {
  std::vector<int> host(1024);
  add<<<4, 256>>>(device, 1);
  check(cudaMemcpy(host.data(), device, 4096, cudaMemcpyDeviceToHost) == cudaSuccess, "a copy");
  for (int value : host) check(value == expected, "a value");
}

static int end_of(pid_t child) {
  int status = 0;
  check(waitpid(child, &status, 0) == child, "wait");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Every kind of child comes and goes, and only this process has the device.
static void children() {
  begin();
  use(1);
  const pid_t forked = fork();
  if (forked == 0) {
    std::printf("child: %s, %s\n", cudaGetErrorName(cudaMemset(device, 1, 4096)), cudaGetErrorName(cudaGetLastError()));
    add<<<4, 256>>>(device, 100);
    int count = 0;
    check(cudaGetLastError() == cudaErrorInitializationError, "a launch in a child");
    check(cudaGetDeviceCount(&count) == cudaErrorInitializationError, "the number of devices in a child");
    std::exit(7);  // what was to be done at the end is done here too
  }
  check(end_of(forked) == 7, "the child's exit code");
  use(2);
  // Two generations, at the same time as calls of the parent.
  const pid_t busy = fork();
  if (busy == 0) {
    for (int i = 0; i < 100; ++i) check(cudaMemset(device, 1, 4096) == cudaErrorInitializationError, "a child's call");
    if (fork() == 0) _exit(cudaFree(device) == cudaErrorInitializationError ? 0 : 1);
    int status = 0;
    wait(&status);
    _exit(WEXITSTATUS(status));
  }
  for (int i = 3; i < 30; ++i) use(i);
  check(end_of(busy) == 0, "the busy child");
  const pid_t raw = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (raw == 0) _exit(cudaFree(device) == cudaErrorInitializationError ? 0 : 1);
  check(end_of(raw) == 0, "a child of clone");
  use(30);
  const pid_t with_vfork = vfork();
  if (with_vfork == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  check(end_of(with_vfork) == 0, "vfork and exec");
  check(std::system("exit 5") == 5 << 8, "system");
  std::FILE* const pipe = popen("echo piped", "r");
  char word[16] = {};
  check(pipe != nullptr && std::fgets(word, sizeof word, pipe) != nullptr && std::strcmp(word, "piped\n") == 0,
        "popen");
  check(pclose(pipe) == 0, "pclose");
  pid_t spawned = 0;
  char name[] = "true";
  char* words[] = {name, nullptr};
  check(posix_spawn(&spawned, "/bin/true", nullptr, nullptr, words, environ) == 0 && end_of(spawned) == 0, "spawn");
  use(31);
  // A thread is in a call when the process is copied.
  std::thread other([] {
    for (int i = 0; i < 200; ++i) check(cudaMemset(device + 512, 0, 4) == cudaSuccess, "the thread's call");
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 0 : 1);
    check(end_of(child) == 0, "a child made in the middle of a call");
  }
  other.join();
}

// The parent goes; the child has no device, and the run is over with the parent.
static void daemonised() {
  begin();
  use(1);
  std::fflush(stdout);
  check(daemon(1, 1) == 0, "daemon");
  const cudaError_t error = cudaMemset(device, 1, 4096);
  std::printf("daemon: %s\n", cudaGetErrorName(error));
}

static void* endless(void*) {
  for (;;) {
    int* p = nullptr;
    cudaMalloc(&p, 4096);
    cudaFree(p);
  }
}
static void cancelled() {
  begin();
  for (int i = 0; i < 40; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, endless, nullptr);
    usleep(300 + i * 37);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    void* p = nullptr;
    void* q = nullptr;
    check(cudaMalloc(&p, 64) == cudaSuccess && cudaMalloc(&q, 64) == cudaSuccess && p && q && p != q, "after a cancel");
  }
  use(1);
}

static sigjmp_buf before;
static void leave_call(int) {
  siglongjmp(before, 1);
}
static void call_in_handler(int) {
  int count = 0;
  std::printf("in the handler: %s\n", cudaGetErrorName(cudaMemGetInfo(nullptr, nullptr)));
  std::printf("in the handler: %s\n", cudaGetErrorName(cudaGetDeviceCount(&count)));
}
static void exit_in_handler(int) {
  std::printf("exits in the handler\n");
  std::exit(9);
}
static void throw_in_handler(int) {
  throw 5;
}
static void pthread_exit_in_handler(int) {
  pthread_exit(nullptr);
}
static void after(int milliseconds, void (*handler)(int)) {
  signal(SIGALRM, handler);
  itimerval timer{};
  timer.it_value.tv_usec = milliseconds * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// A call is left that waits for a long kernel; what the simulator says then is dropped, and the next calls go on.
static void left_by_longjmp() {
  begin();
  for (int i = 0; i < 3; ++i) {
    slow<<<1, 32>>>(device, kLong);
    if (sigsetjmp(before, 1) == 0) {
      after(20, leave_call);
      cudaDeviceSynchronize();
      alarm(0);
    } else {
      std::printf("left\n");
    }
  }
  cudaMemset(device, 0, 4096);
  std::thread([] { use(1); }).join();
  use(2);
}
static void called_in_handler() {
  begin();
  slow<<<1, 32>>>(device, kLong);
  after(20, call_in_handler);
  check(cudaDeviceSynchronize() == cudaSuccess, "the call that was interrupted");
  cudaMemset(device, 0, 4096);
  use(1);
}
static void ended_in_handler() {
  begin();
  slow<<<1, 32>>>(device, kLong);
  after(20, exit_in_handler);
  cudaDeviceSynchronize();
}
static void thrown_in_handler() {
  begin();
  slow<<<1, 32>>>(device, kLong);
  try {
    after(20, throw_in_handler);
    cudaDeviceSynchronize();
  } catch (int) {
    std::printf("thrown\n");
  }
  cudaMemset(device, 0, 4096);
  std::thread([] { use(1); }).join();
}
static void thread_ends_in_handler() {
  begin();
  slow<<<1, 32>>>(device, kLong);
  pthread_t thread;
  signal(SIGUSR1, pthread_exit_in_handler);
  pthread_create(
      &thread, nullptr, [](void*) -> void* { return cudaDeviceSynchronize(), nullptr; }, nullptr);
  usleep(50000);
  pthread_kill(thread, SIGUSR1);
  pthread_join(thread, nullptr);
  cudaMemset(device, 0, 4096);
  use(1);
}
static void exits_beside_a_call() {
  begin();
  slow<<<1, 32>>>(device, kLong);
  std::thread([] { cudaDeviceSynchronize(); }).detach();
  usleep(30000);
  std::exit(11);
}

static void emptied() {
  clearenv();
  begin();
  use(1);
}

static void closed(const std::string& how) {
  begin();
  use(1);
  std::vector<char> large(1 << 20, 1);
  int* more = nullptr;
  check(cudaMalloc(&more, large.size()) == cudaSuccess, "more memory");
  check(cudaMemcpy(more, large.data(), large.size(), cudaMemcpyHostToDevice) == cudaSuccess, "a large copy");
  const int most = static_cast<int>(sysconf(_SC_OPEN_MAX));
  int pair[2] = {-1, -1};
  if (how == "socket") {
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  } else if (how == "file") {
    pair[0] = open("/dev/null", O_RDWR);
  }
  std::vector<bool> was_open(most);
  for (int i = 3; i < most; ++i) was_open[i] = fcntl(i, F_GETFD) != -1;
  for (int i = 3; i < most; ++i) {
    if (how == "shutdown") {
      shutdown(i, SHUT_RDWR);
    } else if (pair[0] < 0) {
      close(i);
    } else if (i != pair[0] && i != pair[1]) {
      dup2(pair[0], i);
    }
  }
  // So that there are some left; the library's has one that was open, whatever else the program has inherited.
  for (int i = 3; i < most && pair[0] >= 0; ++i) {
    if (!was_open[i]) close(i);
  }
  use(2);
  check(cudaMemcpy(large.data(), more, large.size(), cudaMemcpyDeviceToHost) == cudaSuccess, "a large copy back");
  use(3);
}

// Bytes that are not the library's in whatever sockets there are.
static void stray(std::size_t bytes) {
  begin();
  const std::vector<char> garbage(bytes, static_cast<char>(0xff));
  const int most = static_cast<int>(sysconf(_SC_OPEN_MAX));
  for (int i = 3; i < most; ++i) send(i, garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  std::printf("then: %s\n", cudaGetErrorName(cudaMemset(device, 0, 256)));
  std::printf("then: %s\n", cudaGetErrorName(cudaMemset(device, 0, 256)));
}

static void simulator_killed() {
  begin();
  std::fflush(stdout);
  kill(getppid(), SIGKILL);
  usleep(50000);
  std::printf("then: %s\n", cudaGetErrorName(cudaMemset(device, 0, 256)));
  std::printf("then: %s\n", cudaGetErrorName(cudaMemset(device, 0, 256)));
}

int main(int, char** words) {
  const std::string what = words[1];
  if (what == "children") children();
  if (what == "daemon") daemonised();
  if (what == "cancelled") cancelled();
  if (what == "longjmp") left_by_longjmp();
  if (what == "handler") called_in_handler();
  if (what == "exit-in-handler") ended_in_handler();
  if (what == "throw") thrown_in_handler();
  if (what == "thread-ends") thread_ends_in_handler();
  if (what == "exit-beside") exits_beside_a_call();
  if (what == "emptied") emptied();
  if (what == "plain") begin(), use(1);
  if (what == "no-calls") return 0;
  if (what == "neighbours") {
    begin();
    neighbours<<<1, 32>>>(device);
    check(cudaDeviceSynchronize() == cudaSuccess, "the kernel");
  }
  if (what == "closed") closed(words[2]);
  if (what == "stray") stray(std::stoul(words[2]));
  if (what == "killed") simulator_killed();
  std::printf("PASSED\n");
}
