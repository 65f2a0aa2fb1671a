#include "schema/dictionaries.h"

#include <algorithm>

#include "schema/integrity.h"
#include "schema/limits.h"

namespace inquest::trace {
namespace {

constexpr unsigned kFirstNumber = 32768;  // smaller ones are zstd's

size_t slot(DictionaryOf what) { return static_cast<size_t>(what); }
unsigned number(DictionaryOf what) { return kFirstNumber + 1 + static_cast<unsigned>(what); }

}  // namespace

Result<void> Dictionaries::load(Database& database, std::string_view expected) {
  clear();
  INQUEST_TRY(Statement rows, database.prepare("SELECT id, data FROM dictionary ORDER BY id LIMIT 3"));
  while (true) {
    INQUEST_TRY(const bool row, rows.step());
    if (!row) break;
    INQUEST_TRY(const uint64_t id, rows.natural(0));
    INQUEST_TRY(const std::string_view data, rows.blob(1, kMaxDictionaryBytes));
    if (id < 1 || id > 2) return Error{ErrorCode::kCorrupt, "has a dictionary of no known use", database.path(), ""};
    of_[id - 1].emplace(std::string(data));
  }
  if (sha() == expected) return {};
  return Error{ErrorCode::kCorrupt, "its dictionaries are not those that it was written with", database.path(), ""};
}

Result<void> Dictionaries::save(Database& database) const {
  INQUEST_TRY(Statement put, database.prepare("INSERT OR REPLACE INTO dictionary VALUES (?, ?)"));
  for (size_t i = 0; i < 2; ++i) {
    if (of_[i]) INQUEST_TRY_VOID(put.bind(1, uint64_t{i + 1}).bind_blob(2, of_[i]->bytes()).run());
  }
  return {};
}

std::string Dictionaries::sha() const {
  if (empty()) return "";
  std::string bytes;
  for (const auto& dictionary : of_) put_value(bytes, std::string_view(dictionary ? dictionary->bytes() : ""));
  return to_hex(Sha256().add(bytes).finish());
}

const Dictionary* Dictionaries::get(DictionaryOf what) const { return of_[slot(what)] ? &*of_[slot(what)] : nullptr; }

Result<const Dictionary*> Dictionaries::find(unsigned wanted) const {
  if (wanted == 0) return static_cast<const Dictionary*>(nullptr);
  for (const DictionaryOf what : {DictionaryOf::kBodies, DictionaryOf::kFacts}) {
    if (wanted == number(what) && get(what) != nullptr) return get(what);
  }
  return Error{ErrorCode::kCorrupt, "a frame needs a dictionary that the trace does not have", "", ""};
}

void Dictionaries::set(DictionaryOf what, std::string bytes) {
  if (!bytes.empty()) of_[slot(what)].emplace(std::move(bytes));
}

void DictionaryTrainer::add(std::string_view bytes) {
  while (!bytes.empty() && !enough()) {
    const std::string_view sample = bytes.substr(0, kSample);
    samples_.append(sample);
    sizes_.push_back(sample.size());
    bytes.remove_prefix(sample.size());
  }
}

std::string DictionaryTrainer::train(DictionaryOf what) {
  std::string bytes = Dictionary::train(samples_, sizes_, number(what));
  samples_ = {};
  sizes_ = {};
  return bytes;
}

}  // namespace inquest::trace
