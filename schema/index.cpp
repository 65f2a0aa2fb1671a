#include "schema/index.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "schema/limits.h"

namespace inquest::trace {
namespace {

// Table label while it is filled: each text once.
class Labels {
 public:
  static Result<Labels> make(Database& database) {
    Labels labels;
    INQUEST_TRY(labels.put_, database.prepare("INSERT INTO label VALUES (?, ?)"));
    INQUEST_TRY_VOID(labels.put_.bind(1, int64_t{0}).bind_text(2, "").run());
    labels.ids_.emplace("", 0);
    return labels;
  }
  Result<int64_t> id(std::string_view text) {
    text = text.substr(0, kMaxIndexText);
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<int64_t>(ids_.size());
    INQUEST_TRY_VOID(put_.bind(1, id).bind_text(2, text).run());
    ids_.emplace(text, id);
    return id;
  }

 private:
  Statement put_;
  std::map<std::string, int64_t, std::less<>> ids_;
};

// A UUID as Kubernetes writes it as 16 bytes, anything else "".
std::string uuid_bytes(std::string_view text) {
  if (text.size() != 36) return "";
  std::string bytes;
  for (size_t i = 0; i < text.size();) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i++] != '-') return "";
      continue;
    }
    int byte = 0;
    for (int digit = 0; digit < 2; ++digit, ++i) {
      const char c = text[i];
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return "";
      byte = byte * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

// An rv is any number of 64 bits; SQLite's integers have a sign.
int64_t as_integer(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

}  // namespace

void Index::add(const PodFacts& facts, const Record& record, Seq seq) {
  if (facts.pod.value >= row_of_.size()) row_of_.resize(size_t{facts.pod.value} + 1);
  uint32_t& row = row_of_[facts.pod.value];
  if (row == 0) {
    if (pods_.size() >= kMaxIndexRows) {
      partial_ = true;
      return;
    }
    pods_.emplace_back();
    row = static_cast<uint32_t>(pods_.size());
    pods_.back().pod = facts.pod;
    pods_.back().first = {seq, record.wall};
  }
  Pod& pod = pods_[row - 1];
  pod.last = seq;
  if (facts.node) pod.node = facts.node;
  if (facts.node && pod.bound.seq == 0) pod.bound = {seq, record.wall};
  if (facts.deletion.known() && pod.deleting == 0) pod.deleting = seq;
  if (record.kind == RecordKind::kFrame && record.verb == Verb::kDeleted) pod.deleted = {seq, record.wall};
}

void Index::add(const Record& record, Seq seq) {
  if (record.kind == RecordKind::kList) list_ = seq;
  const Seq shown_at = record.kind == RecordKind::kSource ? list_ : seq;  // a part of a list
  for (const ObjectFacts& object : record.objects) {
    if (const auto* pod = std::get_if<PodFacts>(&object)) add(*pod, record, shown_at);
  }
  const Bind& bind = record.bind;
  if (record.kind == RecordKind::kBindRequest) {
    partial_ |= binds_.size() >= kMaxIndexRows;
    if (binds_.size() < kMaxIndexRows) {
      binds_.push_back({seq, 0, bind.pod, bind.node, bind.scheduler, 0, record.wall, {}});
    }
  }
  if (record.kind == RecordKind::kBindAnswer) {
    const auto at = std::lower_bound(binds_.begin(), binds_.end(), bind.request,
                                     [](const BindRow& row, Seq request) { return row.seq < request; });
    if (at != binds_.end() && at->seq == bind.request && at->answer == 0) {
      at->answer = seq;
      at->code = bind.code;
      at->answered = record.wall;
    }
  }
  if (record.kind == RecordKind::kGap) {
    partial_ |= gaps_.size() >= kMaxIndexRows;
    if (gaps_.size() < kMaxIndexRows) {
      gaps_.push_back({seq, record.stream, record.gap_from, record.rv, record.wall, record.text});
    }
  }
}

Result<void> Index::save(Database& database, const Catalog& catalog, Time start, Seals& seals) const {
  const auto ms = [&](Time time) { return time.known() ? (time - start).ns / 1'000'000 : 0; };
  INQUEST_TRY(Labels labels, Labels::make(database));
  INQUEST_TRY(Statement put_pod, database.prepare("INSERT INTO pod VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  int64_t id = 0;
  for (const Pod& pod : pods_) {
    const KeyId key = catalog.key_of(pod.pod);
    const std::string_view name = catalog.name(key).substr(0, kMaxIndexText);
    const std::string_view uid = catalog.uid(pod.pod).substr(0, kMaxIndexText);
    const std::string uuid = uuid_bytes(uid);
    const size_t dash = name.rfind('-') + 1;  // 0 if there is none
    INQUEST_TRY(const int64_t ns, labels.id(catalog.ns(key)));
    INQUEST_TRY(const int64_t prefix, labels.id(name.substr(0, dash)));
    INQUEST_TRY(const int64_t node, labels.id(catalog.node_name(pod.node)));
    put_pod.bind(1, ++id).bind(3, ns).bind(4, prefix).bind_text(5, name.substr(dash)).bind(6, node);
    uuid.empty() ? put_pod.bind_text(2, uid) : put_pod.bind_blob(2, uuid);
    put_pod.bind(7, pod.first.seq).bind(8, ms(pod.first.wall)).bind(9, pod.bound.seq).bind(10, ms(pod.bound.wall));
    put_pod.bind(11, pod.deleting).bind(12, pod.deleted.seq).bind(13, ms(pod.deleted.wall)).bind(14, pod.last);
    INQUEST_TRY_VOID(put_pod.run());
  }
  INQUEST_TRY(Statement put_bind, database.prepare("INSERT INTO bind VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const BindRow& bind : binds_) {
    INQUEST_TRY(const int64_t node, labels.id(catalog.node_name(bind.node)));
    INQUEST_TRY(const int64_t scheduler, labels.id(catalog.text(bind.scheduler)));
    const uint64_t pod = bind.pod.value < row_of_.size() ? row_of_[bind.pod.value] : 0;
    put_bind.bind(1, bind.seq).bind(2, pod).bind(3, node).bind(4, scheduler).bind(5, ms(bind.sent));
    INQUEST_TRY_VOID(put_bind.bind(6, bind.answer).bind(7, int64_t{bind.code}).bind(8, ms(bind.answered)).run());
  }
  INQUEST_TRY(Statement put_gap, database.prepare("INSERT INTO gap VALUES (?, ?, ?, ?, ?, ?)"));
  for (const Gap& gap : gaps_) {
    put_gap.bind(1, gap.seq).bind(2, uint64_t{gap.stream.value} + 1).bind(3, as_integer(gap.from));
    put_gap.bind(4, as_integer(gap.to)).bind(5, ms(gap.wall));
    INQUEST_TRY_VOID(put_gap.bind_text(6, catalog.text(gap.why).substr(0, kMaxIndexText)).run());
  }
  seals.index = partial_ ? "partial" : "whole";
  INQUEST_TRY(seals.index_sha, index_sha(database));
  return {};
}

namespace {

Result<void> add_rows(Database& database, const char* sql, Sha256& sha) {
  INQUEST_TRY(Statement rows, database.prepare(sql));
  std::string bytes;
  while (true) {
    INQUEST_TRY(const bool row, rows.step());
    if (!row) return {};
    bytes.clear();
    for (int column = 0; column < rows.columns(); ++column) {
      if (rows.is_integer(column)) {
        INQUEST_TRY(const int64_t value, rows.integer(column));
        put_value(bytes, value);
        continue;
      }
      auto value = rows.text(column, kMaxIndexText);
      if (!value.ok()) value = rows.blob(column, kMaxIndexText);
      if (!value.ok()) return value.error();
      put_value(bytes, *value);
    }
    sha.add(bytes);
  }
}

}  // namespace

Result<std::string> index_sha(Database& database) {
  Sha256 sha;
  for (const char* sql : {"SELECT 'label', * FROM label ORDER BY id", "SELECT 'pod', * FROM pod ORDER BY id",
                          "SELECT 'bind', * FROM bind ORDER BY seq", "SELECT 'gap', * FROM gap ORDER BY seq"}) {
    INQUEST_TRY_VOID(add_rows(database, sql, sha));
  }
  return to_hex(sha.finish());
}

std::string empty_index_sha() { return to_hex(Sha256().finish()); }

}  // namespace inquest::trace
