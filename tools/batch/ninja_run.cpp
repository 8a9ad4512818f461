// SPDX-License-Identifier: MIT
// Ninja writes a status line when an edge ends; what follows, up to the next one, is that edge's
// output.
#include "batch/ninja_run.h"

#include "base/child_process.h"
#include "base/files.h"
#include "base/text.h"
#include "batch/ninja_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace plush::tools {
namespace {

// Begins the status line of an edge; no bake prints this byte.
constexpr char kStatusMark = '\x01';
// A failed bake's output is kept up to here [bytes].
constexpr size_t kMaxText = 64 << 10;

Error SystemError(const std::string& what) {
  return {ExitCode::kIo, what + ": " + std::strerror(errno)};
}

// Makes the calls of on_end from Ninja's lines.
class NinjaOutput {
 public:
  explicit NinjaOutput(const std::function<void(const BakeEnd&)>& on_end) : on_end_(on_end) {}

  void Add(std::string_view piece) {
    pending_ += piece;
    size_t begin = 0;
    for (size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      AddLine(std::string_view(pending_).substr(begin, end - begin));
    }
    pending_.erase(0, begin);
  }

  void Finish() {
    if (!pending_.empty()) AddLine(pending_);
    EndBake();
  }

  bool any_failed() const { return any_failed_; }
  const std::string& complaint() const { return complaint_; }  ///< of Ninja itself

 private:
  void AddLine(std::string_view line) {
    constexpr std::string_view kNinja = "ninja: ";
    if (line.starts_with(kStatusMark)) {
      EndBake();
      line.remove_prefix(1);
      bake_.emplace();
      TakeNumber(&line, &bake_->index);
    } else if (line.starts_with(kNinja)) {
      // "ninja: error: ..." ends a run, "ninja: warning: ..." may be why it went on worse.
      line.remove_prefix(kNinja.size());
      if (line.starts_with("error: ") || line.starts_with("fatal: ")) complaint_ = line.substr(7);
    } else if (line.starts_with(kExitCodeLine) && bake_) {
      line.remove_prefix(sizeof(kExitCodeLine) - 1);
      TakeNumber(&line, &bake_->exit_code);
    } else if (line.starts_with("FAILED: ") && bake_) {
      is_failed_ = true;
      skip_command_ = true;
    } else if (bake_ && !std::exchange(skip_command_, false) && bake_->text.size() < kMaxText) {
      bake_->text += std::string(line) + "\n";
    }
  }

  void EndBake() {
    if (!bake_) return;
    // A signal may have ended the shell before it could say so.
    if (is_failed_ && bake_->exit_code == 0) bake_->exit_code = 128 + SIGKILL;
    any_failed_ = any_failed_ || bake_->exit_code != 0;
    on_end_(*bake_);
    bake_.reset();
    is_failed_ = false;
  }

  const std::function<void(const BakeEnd&)>& on_end_;
  std::string pending_;  // a line that is not whole yet
  std::optional<BakeEnd> bake_;
  bool is_failed_ = false;
  bool skip_command_ = false;  // Ninja repeats it after "FAILED: "
  bool any_failed_ = false;
  std::string complaint_;
};

// Runs between fork and exec: async-signal-safe calls only.
[[noreturn]] void BecomeNinja(char* const* argv, int output, pid_t parent) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // Ninja then ends its bakes and removes unfinished outputs
  if (::getppid() != parent) ::_exit(127);
#endif
  // Too large a file becomes an error that Ninja reports, not its death. Nor does Ninja die before
  // its bakes when our end of the pipe is gone.
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(argv[0], argv);
  ::_exit(127);
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// ".plush.tmp12-0": as WriteFilesAtomically names new content.
bool IsTemporary(std::string_view name) {
  if (!name.starts_with(kTemporaryStem)) return false;
  name.remove_prefix(std::strlen(kTemporaryStem));
  unsigned number = 0;
  return TakeNumber(&name, &number) && name.starts_with('-') &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

std::vector<std::string> CommandOf(const NinjaSettings& settings) {
  return {settings.ninja,
          "-C",
          settings.output_tree,
          "-f",
          kNinjaFile,
          "-k",
          "0",
          "-j",
          std::to_string(settings.jobs)};
}

}  // namespace

Result<std::unique_ptr<BatchLock>> BatchLock::Take(const std::string& output_tree,
                                                   const std::function<void()>& on_wait) {
  const std::string folder = output_tree + "/" + kBatchFolder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{ExitCode::kIo, "cannot make '" + folder + "': " + error.message()};
  const std::string path = folder + "/lock";
  // Without O_CLOEXEC: Ninja and its bakes inherit the lock.
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);  // NOLINT(android-cloexec-open)
  if (fd < 0) return SystemError("cannot write '" + path + "'");
  auto lock = std::make_unique<BatchLock>(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    on_wait();
    while (::flock(fd, LOCK_EX) != 0) {
      if (errno != EINTR) return SystemError("cannot lock '" + path + "'");
    }
    return lock;
  }
  return SystemError("cannot lock '" + path + "'");
}

BatchLock::~BatchLock() { ::close(fd_); }

Result<Done> RunNinja(const NinjaSettings& settings,
                      const std::function<void(const BakeEnd&)>& on_end) {
  std::vector<std::string> command = CommandOf(settings);
  if (settings.is_dry_run) command.emplace_back("-n");
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::setenv("NINJA_STATUS", std::string(1, kStatusMark).c_str(), 1);
  ::setenv("TERM", "dumb", 1);
  ::unsetenv(kCacheVariable);
  if (!settings.cache.empty()) ::setenv(kCacheVariable, settings.cache.c_str(), 1);
  ::setenv(kCacheSizeVariable, settings.cache_size.c_str(), 1);
  ::setenv(kBakeTimeVariable, settings.bake_time.c_str(), 1);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return SystemError("cannot run '" + settings.ninja + "'");
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeNinja(argv.data(), ends[1], parent);
  ::close(ends[1]);
  NinjaOutput output(on_end);
  std::array<char, 1 << 16> buffer;
  while (pid > 0) {
    const ssize_t n = ::read(ends[0], buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    output.Add({buffer.data(), static_cast<size_t>(n)});
  }
  ::close(ends[0]);
  if (pid < 0) return SystemError("cannot run '" + settings.ninja + "'");
  output.Finish();
  const int code = WaitFor(pid);
  if (code == 0 || (code == 1 && output.any_failed() && output.complaint().empty())) return Done{};
  const std::string why = output.complaint().empty() ? "exit code " + std::to_string(code)
                                                     : PrintableUtf8(output.complaint());
  return Error{ExitCode::kIo, "ninja stopped: " + why};
}

void RemoveTemporaries(const std::string& output_tree) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::recursive_directory_iterator it(output_tree, error), end; !error && it != end;
       it.increment(error)) {
    const fs::path& path = it->path();
    if (IsTemporary(path.filename().native())) ::unlink(path.c_str());
  }
}

Result<Done> RemoveDeadOutputs(const NinjaSettings& settings) {
  std::vector<std::string> command = CommandOf(settings);
  command.insert(command.end(), {"-t", "cleandead"});
  ChildLimits limits;
  limits.time_s = 600.0;
  const auto child = RunChild(command, limits);
  if (!child.ok()) return child.error();
  if (child.value().end == ChildEnd::kExited && child.value().exit_code == 0) return Done{};
  return Error{ExitCode::kIo, "ninja cannot remove outputs: " + LastLine(child.value().err)};
}

}  // namespace plush::tools
