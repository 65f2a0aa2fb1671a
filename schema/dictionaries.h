// The dictionaries of a trace: what small batches are compressed with. Private to schema/.
//
// A recorder commits a batch after 250 ms, which may be a dozen records; alone they compress badly, because what
// repeats stands in the batches before. A dictionary learnt from the first batches makes up for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/compress.h"
#include "schema/sqlite.h"

namespace inquest::trace {

enum class DictionaryOf : uint8_t { kBodies, kFacts };

class Dictionaries {
 public:
  // Of an existing trace; `sha` as its summary says. Errors: limits, another hash.
  Result<void> load(Database& database, std::string_view sha);
  Result<void> save(Database& database) const;  // within the caller's transaction
  std::string sha() const;                      // in hexadecimal; "" if there are none

  const Dictionary* get(DictionaryOf what) const;
  // By the number a frame names; null for 0.
  Result<const Dictionary*> find(unsigned number) const;
  void set(DictionaryOf what, std::string bytes);
  bool empty() const { return !of_[0] && !of_[1]; }
  void clear() {
    for (auto& dictionary : of_) dictionary.reset();
  }

 private:
  std::optional<Dictionary> of_[2];
};

// Gathers samples until they are enough to learn from.
class DictionaryTrainer {
 public:
  void add(std::string_view bytes);  // one sample; a long one counts as several
  bool enough() const { return samples_.size() >= kEnough; }
  std::string train(DictionaryOf what);  // and forgets the samples

 private:
  static constexpr size_t kEnough = size_t{1} << 20, kSample = size_t{8} << 10;
  std::string samples_;
  std::vector<size_t> sizes_;
};

}  // namespace inquest::trace
