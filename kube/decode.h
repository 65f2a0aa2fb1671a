// JSON → facts, by simdjson; the body itself is left to the caller. Nothing here does I/O.
//
// Decoding never fails as a whole on a bad field: the field is left at its default, and a Warning says which
// (pod, container, field), so that nothing is lost silently. Nulls count as absent (incidents F17).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/facts.h"

namespace inquest::kube {

// A watch frame taken apart.
struct DecodedFrame {
  enum class Type : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kAdded;
  ResourceVersion rv = 0;           // of the object (of a BOOKMARK too)
  ObjectFacts object;               // for the first three types
  bool initial_events_end = false;  // a BOOKMARK with that annotation
  int code = 0;                     // of an ERROR: the Status code, 0 if it has none
  std::string reason, message;      // of an ERROR
};

// A LIST answer taken apart.
struct DecodedList {
  std::string kind;  // "PodList"
  ResourceVersion rv = 0;
  std::vector<ObjectFacts> objects;
  uint64_t left_out = 0;       // items that are no objects or have no metadata
  std::string continue_token;  // not empty: this is one page of a longer list
};

// A Status, as an answer to a bind (kubernetes-facts 6.2).
struct DecodedStatus {
  int code = 0;
  std::string reason, message;
};

struct Warning {
  std::string object;  // "pod sched-lab/pod1"
  std::string field;   // "spec.containers[0].resources.requests.cpu"
  std::string text;    // "'16g' is no quantity"
};

// Reuses its buffers between calls: keep one per thread.
class Decoder {
 public:
  // The catalog must outlive the decoder.
  explicit Decoder(Catalog& catalog);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // Errors: not JSON, not an object, no type, an unknown type, a Table (ask for plain JSON), no metadata.
  Result<DecodedFrame> frame(std::string_view json);
  Result<DecodedList> list(std::string_view json);
  Result<ObjectFacts> object(std::string_view json);
  Result<DecodedStatus> status(std::string_view json);

  // Warnings since the last call; at most 100 are kept with their text, the rest only counted.
  std::vector<Warning> take_warnings();
  // All warnings so far, with or without text, taken or not.
  uint64_t warning_count() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace inquest::kube
