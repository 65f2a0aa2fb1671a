#include "schema/page_scan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "schema/limits.h"
#include "schema/open.h"

namespace inquest::trace {
namespace {

constexpr size_t kPage = PageScan::kPageBytes;
constexpr size_t kMaxColumns = 64;
constexpr uint8_t kMaxUses = 4;                   // of one overflow page: by a row, and by what is left of older ones
constexpr size_t kMaxRowBytes = kMaxStoredBytes;  // as SQLite was told when it wrote them
constexpr size_t kLogHeader = 32, kFrameHeader = 24;
constexpr uint64_t kMaxPages = UINT32_MAX - 1;
constexpr uint64_t kMaxFrames = uint64_t{1} << 18;  // of a log: 1 GiB
constexpr uint8_t kTableLeaf = 13, kIndexLeaf = 10, kIndexInterior = 2;

// Integers of the file, big-endian. All give 0 beyond the end.
uint64_t number(std::string_view bytes, size_t at, size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return 0;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

// SQLite's integer of 1 to 9 bytes; moves `at` behind it.
std::optional<uint64_t> varint(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) return {};
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7fU);
    if (byte < 0x80) return value;
  }
  return {};
}

// Fewer bytes at the file's end. A place that the disk cannot read counts as one: what hangs on it will not verify.
std::string read_at(int file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

uint64_t size_of(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
}

// The checksum of a write-ahead log, which runs on from frame to frame. Its header says in which byte order.
class LogSum {
 public:
  explicit LogSum(bool big_endian) : big_endian_(big_endian) {}
  void add(std::string_view bytes) {
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first_ += word(bytes, at) + second_;
      second_ += word(bytes, at + 4) + first_;
    }
  }
  bool is(std::string_view bytes, size_t at) const {
    return number(bytes, at, 4) == first_ && number(bytes, at + 4, 4) == second_;
  }

 private:
  uint32_t word(std::string_view bytes, size_t at) const {
    const auto value = static_cast<uint32_t>(number(bytes, at, 4));
    return big_endian_ ? value : __builtin_bswap32(value);
  }
  bool big_endian_;
  uint32_t first_ = 0, second_ = 0;
};

// How much of a payload lies in its cell; the rest in overflow pages.
size_t local_size(uint64_t payload, bool table) {
  const size_t most = table ? kPage - 35 : (kPage - 12) * 64 / 255 - 23;
  const size_t least = (kPage - 12) * 32 / 255 - 23;
  if (payload <= most) return payload;
  const size_t local = least + (payload - least) % (kPage - 4);
  return local <= most ? local : least;
}

// By the type in a record's header.
size_t value_size(uint64_t type) {
  constexpr size_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < 12 ? kSizes[type] : (type - 12) / 2;
}

PageScan::Value value_of(uint64_t type, std::string_view bytes) {
  using Type = PageScan::Value::Type;
  if (type == 0) return {};
  if (type == 8 || type == 9) return {Type::kInteger, static_cast<int64_t>(type) - 8, {}};
  if (type == 7 || type == 10 || type == 11) return {Type::kOther, 0, {}};
  if (type >= 12) return {type % 2 == 0 ? Type::kBlob : Type::kText, 0, bytes};
  const uint64_t unsigned_value = number(bytes, 0, bytes.size());
  const auto shift = static_cast<unsigned>(64 - 8 * bytes.size());
  return {Type::kInteger, static_cast<int64_t>(unsigned_value << shift) >> shift, {}};
}

}  // namespace

Result<PageScan> PageScan::open(const std::string& path) {
  PageScan scan;
  scan.file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (scan.file_ < 0) return Error{ErrorCode::kIo, std::string("cannot be read: ") + std::strerror(errno), path, ""};
  scan.pages_ = (size_of(scan.file_) + kPage - 1) / kPage;
  if (scan.pages_ == 0) return Error{ErrorCode::kInput, "is empty, or no regular file", path, ""};
  scan.load_log(path + "-wal");
  const uint64_t logged = scan.logged_.empty() ? 0 : scan.logged_.rbegin()->first;
  scan.pages_ = std::min(std::max(scan.pages_, std::min(logged, scan.pages_ + kMaxFrames)), kMaxPages);
  scan.uses_.assign(scan.pages_ + 1, 0);
  return scan;
}

PageScan::PageScan(PageScan&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      log_(std::exchange(other.log_, -1)),
      pages_(other.pages_),
      logged_(std::move(other.logged_)),
      uses_(std::move(other.uses_)) {}

PageScan::~PageScan() {
  if (file_ >= 0) ::close(file_);
  if (log_ >= 0) ::close(log_);
}

// The frames that SQLite would see: up to the last commit before the first whose salt or checksum is another.
void PageScan::load_log(const std::string& path) {
  log_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (log_ < 0 || size_of(log_) < kLogHeader) return;
  const std::string header = read_at(log_, 0, kLogHeader);
  const uint64_t magic = number(header, 0, 4);
  if ((magic & ~uint64_t{1}) != 0x377f0682 || number(header, 8, 4) != kPage) return;
  LogSum sum((magic & 1) != 0);
  sum.add(std::string_view(header).substr(0, 24));
  std::vector<std::pair<uint32_t, uint64_t>> open;  // frames of a transaction that is not committed yet
  for (uint64_t i = 0; i < kMaxFrames; ++i) {
    const uint64_t at = kLogHeader + i * (kFrameHeader + kPage);
    const std::string frame = read_at(log_, at, kFrameHeader + kPage);
    if (frame.size() < kFrameHeader + kPage || frame.compare(8, 8, header, 16, 8) != 0) return;
    sum.add(std::string_view(frame).substr(0, 8));
    sum.add(std::string_view(frame).substr(kFrameHeader));
    if (!sum.is(frame, 16)) return;
    open.emplace_back(static_cast<uint32_t>(number(frame, 0, 4)), at + kFrameHeader);
    if (number(frame, 4, 4) == 0) continue;
    for (const auto& [page, place] : open) logged_[page] = place;
    open.clear();
  }
}

// Always a whole page; what is missing is 0.
std::string PageScan::read_page(uint64_t page) const {
  const auto logged = logged_.find(static_cast<uint32_t>(page));
  std::string bytes =
      logged != logged_.end() ? read_at(log_, logged->second, kPage) : read_at(file_, (page - 1) * kPage, kPage);
  bytes.resize(kPage);
  return bytes;
}

uint32_t PageScan::format() {
  const std::string first = read_page(1);
  if (!first.starts_with("SQLite format 3") || number(first, 68, 4) != kApplicationId) return 0;
  return static_cast<uint32_t>(number(first, 60, 4));
}

const PageScan::Row* PageScan::next() {
  for (; page_ <= pages_; ++page_, cells_ = 0) {
    if (cells_ == 0 && !begin_page()) continue;
    while (cell_ < cells_) {
      if (read_cell()) return &row_;
    }
  }
  return nullptr;
}

// The first page holds the schema, which nobody asks for.
bool PageScan::begin_page() {
  cell_ = 0;
  local_left_ = kPage;
  if (page_ == 1) return false;
  bytes_ = read_page(page_);
  const auto kind = static_cast<uint8_t>(bytes_[0]);
  if (kind != kTableLeaf && kind != kIndexLeaf && kind != kIndexInterior) return false;
  cells_ = std::min<size_t>(number(bytes_, 3, 2), kPage / 4);
  return cells_ > 0;
}

bool PageScan::read_cell() {
  const auto kind = static_cast<uint8_t>(bytes_[0]);
  const size_t pointers = kind == kIndexInterior ? 12 : 8;
  size_t at = number(bytes_, pointers + 2 * cell_++, 2);
  if (at < pointers + 2 * cells_) return false;
  if (kind == kIndexInterior) at += 4;  // the child's number
  const auto size = varint(bytes_, at);
  row_.has_id = kind == kTableLeaf;
  const auto id = row_.has_id ? varint(bytes_, at) : std::optional<uint64_t>(0);
  if (!size || !id) return false;
  row_.id = static_cast<int64_t>(*id);
  return read_payload(at, *size) && read_record();
}

// Together from the cell and its overflow pages.
bool PageScan::read_payload(size_t at, uint64_t size) {
  if (size > kMaxRowBytes || size > pages_ * kPage) return false;
  const size_t local = local_size(size, row_.has_id);
  if (local > kPage - at || local > local_left_) return false;
  local_left_ -= local;
  payload_.assign(bytes_, at, local);
  uint64_t page = local < size ? number(bytes_, at + local, 4) : 0;
  while (payload_.size() < size) {
    if (page < 2 || page > pages_ || uses_[page] >= kMaxUses) return false;
    ++uses_[page];
    const std::string overflow = read_page(page);
    payload_.append(overflow, 4, std::min<size_t>(kPage - 4, size - payload_.size()));
    page = number(overflow, 0, 4);
  }
  return true;
}

bool PageScan::read_record() {
  size_t at = 0;
  const auto header = varint(payload_, at);
  if (!header || *header > payload_.size()) return false;
  size_t value = *header;
  row_.values.clear();
  while (at < *header) {
    const auto type = varint(payload_, at);
    if (!type || row_.values.size() == kMaxColumns) return false;
    const size_t size = value_size(*type);
    if (size > payload_.size() - value) return false;
    row_.values.push_back(value_of(*type, std::string_view(payload_).substr(value, size)));
    value += size;
  }
  return at == *header && value == payload_.size();
}

}  // namespace inquest::trace
