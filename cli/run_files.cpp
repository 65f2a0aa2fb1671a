#include "cli/run_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace inquest::cli {
namespace {

namespace fs = std::filesystem;

// At most `limit` bytes of it.
Result<std::string> read_up_to(const std::string& path, size_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Error{ErrorCode::kIo, "there is no such file", path, ""};
  if (!fs::is_regular_file(status)) return Error{ErrorCode::kInput, "is no regular file", path, ""};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), path, ""};
  std::string out(std::min<uintmax_t>(limit, fs::file_size(path, error)), '\0');
  file.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<size_t>(file.gcount()));
  return out;
}

bool is_run_file(const std::string& path) {
  const auto begin = read_up_to(path, 100);
  return begin.ok() && report::begins_like_run_file(*begin);
}

}  // namespace

bool looks_like_json(const std::string& path) {
  const auto begin = read_up_to(path, 100);
  if (!begin.ok()) return false;
  const size_t first = begin->find_first_not_of(" \t\r\n");
  return first != std::string::npos && (*begin)[first] == '{';
}

Result<trace::OutputFile> prepare_run_file(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error) && !is_run_file(path)) {
    return Error{ErrorCode::kUsage, "exists already and is no run file", path, "name another file"};
  }
  return trace::OutputFile::prepare(path, trace::OutputFile::Existing::kReplace);
}

Result<void> write_run_file(trace::OutputFile& file, const std::string& text) {
  std::ofstream out(file.temporary(), std::ios::binary);
  out << text;
  out.close();
  if (!out)
    return Error{ErrorCode::kIo, std::string("cannot be written: ") + std::strerror(errno), file.temporary(), ""};
  return file.finish();
}

Result<report::RunFile> load_run_file(const std::string& path) {
  INQUEST_TRY(const std::string text, read_up_to(path, report::kMaxRunFile + 1));
  return report::parse_run_file(text, path);
}

}  // namespace inquest::cli
