// SPDX-License-Identifier: MIT
// fork and exec with resource limits; the parent polls the child's pipes and its limits until the
// child ends or reaches one.
#include "base/child_process.h"

#include "base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <string_view>

namespace plush::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxErrBytes = 64 << 10;
// Reads between two checks of the limits: more than the largest pipe holds.
constexpr int kReadsPerDrain = 32;
// Time between two checks if the child writes nothing [ms].
constexpr int kPollMs = 5;

// A pipe. Its ends close with the object, and in every child on exec.
struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool ok() const { return read_end >= 0; }
  void CloseRead() { Close(&read_end); }
  void CloseWrite() { Close(&write_end); }

 private:
  static void Close(int* fd) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
};

// The pipes between parent and child. `start` carries errno of a failed exec.
struct Pipes {
  Pipe out;
  Pipe err;
  Pipe start;
};

// The children that are not reaped yet.
std::mutex g_children_mutex;
std::set<pid_t> g_children;

// Runs between fork and exec: async-signal-safe calls only.
[[noreturn]] void BecomeProgram(char* const* argv, const Pipes& pipes, const ChildLimits& limits) {
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (limits.memory_limit == MemoryLimit::kAddressSpace) {
    const rlimit memory = {limits.memory_bytes, limits.memory_bytes};
    ::setrlimit(RLIMIT_AS, &memory);
  }
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  ::dup2(pipes.out.write_end, STDOUT_FILENO);
  ::dup2(pipes.err.write_end, STDERR_FILENO);
  ::execv(argv[0], argv);
  const int error = errno;
  const ssize_t ignored = ::write(pipes.start.write_end, &error, sizeof(error));
  static_cast<void>(ignored);
  ::_exit(127);
}

// Resident size of a process [bytes]; 0 if unknown.
uint64_t ResidentBytes(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  unsigned long size = 0;
  unsigned long resident = 0;
  const int fields = std::fscanf(file, "%lu %lu", &size, &resident);
  std::fclose(file);
  return fields == 2 ? uint64_t{resident} * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

// Processor time of a process [s]; 0 if unknown.
double ProcessorSeconds(pid_t pid) {
  clockid_t clock = {};
  timespec time = {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0.0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Child {
 public:
  Child(pid_t pid, Pipes* pipes, const ChildLimits& limits)
      : pid_(pid), pipes_(*pipes), limits_(limits) {
    ::fcntl(pipes_.out.read_end, F_SETFL, O_NONBLOCK);
    ::fcntl(pipes_.err.read_end, F_SETFL, O_NONBLOCK);
  }

  ChildResult WaitForEnd() {
    const auto deadline = Clock::now() + std::chrono::duration<double>(limits_.time_s);
    bool limited = false;
    while (!HasExited()) {
      WaitForOutput();
      Drain();
      limited = ReachedLimit(Clock::now() >= deadline);
      if (limited) break;
    }
    // The child is not reaped yet, so no other group can have its number.
    ::kill(-pid_, SIGKILL);
    {
      const std::lock_guard lock(g_children_mutex);
      g_children.erase(pid_);
    }
    if (!limited) Drain();
    Reap(limited);
    if (!limited && result_.out.size() > limits_.output_bytes) result_.end = ChildEnd::kOutputLimit;
    return std::move(result_);
  }

 private:
  bool HasExited() const {
    siginfo_t info = {};
    const int rc = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return rc == 0 && info.si_pid == pid_;
  }

  void WaitForOutput() {
    // poll ignores closed pipes. If both are, the child is about to end.
    std::array<pollfd, 2> fds = {
        {{pipes_.out.read_end, POLLIN, 0}, {pipes_.err.read_end, POLLIN, 0}}};
    const bool is_open = pipes_.out.read_end >= 0 || pipes_.err.read_end >= 0;
    ::poll(fds.data(), fds.size(), is_open ? kPollMs : 1);
  }

  // Reads what is there, at most one byte beyond the output limit. Stops after kReadsPerDrain
  // reads, so that a child that writes without pause cannot keep it busy.
  void Drain() {
    std::array<char, 1 << 16> buffer;
    for (Pipe* pipe : {&pipes_.out, &pipes_.err}) {
      for (int i = 0; i < kReadsPerDrain && pipe->read_end >= 0; ++i) {
        if (result_.out.size() > limits_.output_bytes) break;
        const ssize_t n = ::read(pipe->read_end, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) pipe->CloseRead();
        if (n <= 0) break;
        Keep(pipe == &pipes_.out, buffer.data(), static_cast<size_t>(n));
      }
    }
  }

  void Keep(bool is_out, const char* data, size_t size) {
    if (is_out) {
      const auto* bytes = reinterpret_cast<const std::byte*>(data);
      const uint64_t room = limits_.output_bytes + 1 - result_.out.size();
      result_.out.insert(result_.out.end(), bytes, bytes + std::min<uint64_t>(size, room));
    } else {
      result_.err.append(data, std::min(size, kMaxErrBytes - result_.err.size()));
    }
  }

  bool ReachedLimit(bool time_is_up) {
    if (result_.out.size() > limits_.output_bytes) {
      result_.end = ChildEnd::kOutputLimit;
    } else if (limits_.memory_limit == MemoryLimit::kResident &&
               ResidentBytes(pid_) > limits_.memory_bytes) {
      result_.end = ChildEnd::kMemoryLimit;
    } else if (time_is_up && !HasExited()) {
      result_.end = ChildEnd::kTimeLimit;
    } else if (limits_.processor_s > 0.0 && ProcessorSeconds(pid_) > limits_.processor_s &&
               !HasExited()) {
      result_.end = ChildEnd::kProcessorLimit;
    }
    return result_.end != ChildEnd::kExited;
  }

  void Reap(bool limited) {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (limited) return;
    if (WIFSIGNALED(status)) {
      result_.end = ChildEnd::kSignalled;
      result_.signal_number = WTERMSIG(status);
    } else {
      result_.exit_code = WEXITSTATUS(status);
    }
  }

  pid_t pid_;
  Pipes& pipes_;
  const ChildLimits& limits_;
  ChildResult result_;
};

bool IsExecutable(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

Error StartError(const std::string& program, int error) {
  return {ExitCode::kIo, "cannot run '" + program + "': " + std::strerror(error)};
}

// Returns errno of a failed exec, or 0 if the program runs: exec closes the pipe unwritten.
int WaitForStart(Pipe* start) {
  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(start->read_end, &error, sizeof(error));
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(sizeof(error)) ? error : 0;
}

}  // namespace

Result<ChildResult> RunChild(const std::vector<std::string>& argv, const ChildLimits& limits) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  Pipes pipes;
  if (!pipes.out.ok() || !pipes.err.ok() || !pipes.start.ok()) return StartError(argv[0], errno);

  std::unique_lock lock(g_children_mutex);
  const pid_t pid = ::fork();
  if (pid < 0) return StartError(argv[0], errno);
  if (pid == 0) BecomeProgram(arguments.data(), pipes, limits);
  g_children.insert(pid);
  lock.unlock();
  ::setpgid(pid, pid);  // parent and child both do this: either may run first
  pipes.out.CloseWrite();
  pipes.err.CloseWrite();
  pipes.start.CloseWrite();
  if (const int error = WaitForStart(&pipes.start); error != 0) {
    lock.lock();
    g_children.erase(pid);
    lock.unlock();
    ::waitpid(pid, nullptr, 0);
    return StartError(argv[0], error);
  }
  return Child(pid, &pipes, limits).WaitForEnd();
}

void EndChildren() {
  g_children_mutex.lock();  // for good
  for (const pid_t pid : g_children) {
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);  // it may not lead its group yet
    ::waitpid(pid, nullptr, 0);
  }
}

std::string FindProgram(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return IsExecutable(name) ? name : "";
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (true) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(end == 0 ? "." : folders.substr(0, end));
    std::string path = folder + "/" + name;
    if (IsExecutable(path)) return path;
    if (end == folders.size()) return "";
    folders.remove_prefix(end + 1);
  }
}

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const size_t newline = text.find_last_of('\n', end);
  const size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return PrintableUtf8(std::string_view(text).substr(begin, end + 1 - begin));
}

}  // namespace plush::tools
