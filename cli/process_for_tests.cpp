#include "cli/process_for_tests.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <thread>

#include "base/exec_words.h"

namespace inquest::cli {
namespace {

constexpr const char* kOut = ".stdout";
constexpr const char* kErr = ".stderr";

// Root may read every file; a program it starts without these capabilities may not. Nothing changes for others.
void give_up_reading_everything() {
  prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
  prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
}

// In the child: never returns.
[[noreturn]] void become(const std::vector<char*>& argv, const char* folder, const char* out, const char* err) {
  give_up_reading_everything();
  const int in = open("/dev/null", O_RDONLY);
  const int out_file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (in < 0 || out_file < 0 || err_file < 0 || chdir(folder) != 0) _exit(126);
  dup2(in, STDIN_FILENO);
  dup2(out_file, STDOUT_FILENO);
  dup2(err_file, STDERR_FILENO);
  execv(argv.front(), argv.data());
  _exit(127);
}

}  // namespace

int Workplace::start(const std::vector<std::string>& args, const std::string& out) const {
  std::vector<std::string> words{INQUEST_BINARY};
  words.insert(words.end(), args.begin(), args.end());
  const std::vector<char*> argv = exec_words(words);
  const std::string err = path(kErr);
  const pid_t child = fork();
  if (child == 0) become(argv, path().c_str(), out.c_str(), err.c_str());
  return child;
}

Ran Workplace::run(const std::vector<std::string>& args, const std::string& out_to) const {
  const std::string out = out_to.empty() ? path(kOut) : out_to;
  Ran ran = wait_for(start(args, out));
  if (out_to.empty()) ran.out = read_file(out);
  return ran;
}

Ran Workplace::run_while(const std::vector<std::string>& args, const std::function<void(int pid)>& meanwhile) const {
  const pid_t child = start(args, path(kOut));
  meanwhile(child);
  Ran ran = wait_for(child);
  ran.out = read_file(path(kOut));
  return ran;
}

Ran Workplace::wait_for(int child) const {
  int status = 0;
  struct rusage used {};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  Ran ran;
  ran.max_rss_kb = used.ru_maxrss;
  ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.err = read_file(path(kErr));
  return ran;
}

int64_t Workplace::time_us(const std::vector<std::string>& args) const {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run(args).exit, 0);
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
}

void Workplace::run_killed(const std::vector<std::string>& args, int64_t after_us) const {
  const pid_t child = start(args, path(kOut));
  std::this_thread::sleep_for(std::chrono::microseconds(after_us));
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
}

std::string Workplace::imported(const std::string& name) const {
  std::vector<std::string> args{"import"};
  for (const auto& entry : std::filesystem::directory_iterator(in_repository("traces/" + name))) {
    if (entry.path().filename().string().find(".jsonl") != std::string::npos) args.push_back(entry.path());
  }
  std::sort(args.begin() + 1, args.end());
  args.insert(args.end(), {"-o", name + ".trace"});
  const Ran ran = run(args);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  return name + ".trace";
}

std::string in_repository(const std::string& name) { return std::filesystem::absolute(name); }

std::string capture_line(int64_t t, const std::string& stream, const std::string& kind, const std::string& body) {
  std::string escaped;
  for (const char c : body) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  const std::string path = kind == "open" ? "/api/v1/" + stream + "?watch=1&resourceVersion=1" : "/api/v1/" + stream;
  std::string line = R"({"t":)" + std::to_string(t) + R"(,"stream":")" + stream + R"(","kind":")" + kind +
                     R"(","path":")" + path + R"(","status":200)";
  if (!body.empty()) line += R"(,"body":")" + escaped + "\"";
  return line + "}\n";
}

}  // namespace inquest::cli
