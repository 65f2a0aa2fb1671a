// ListBody: the JSON of a LIST, made of items, in pieces small enough for records. And the items of one.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recorder/body_spool.h"
#include "schema/facts.h"

namespace inquest::recorder {

class ListBody {
 public:
  static constexpr size_t kPiece = size_t{2} << 20;

  // What is finished lies in `spool`, which must outlive this.
  ListBody(std::string_view api_version, std::string_view kind, ResourceVersion rv, BodySpool& spool) : spool_(&spool) {
    piece_ = "{\"kind\":\"" + std::string(kind) + "\",\"apiVersion\":\"" + std::string(api_version) +
             "\",\"metadata\":{\"resourceVersion\":\"" + std::to_string(rv) + "\"},\"items\":[";
  }
  Result<void> add(std::string_view item) {
    if (any_) piece_ += ',';
    any_ = true;
    piece_.append(item);
    ++items_;
    return piece_.size() < kPiece ? Result<void>() : flush();
  }
  // The first piece belongs to the LIST, the others are parts of it (source.h).
  struct Piece {
    BodySpool::Ref body;
    size_t items = 0;
  };
  Result<std::vector<Piece>> finish() {
    piece_ += "]}";
    INQUEST_TRY_VOID(flush());
    return std::move(pieces_);
  }

 private:
  Result<void> flush() {
    INQUEST_TRY(const BodySpool::Ref ref, spool_->put(piece_));
    pieces_.push_back({ref, std::exchange(items_, 0)});
    piece_.clear();
    return {};
  }

  BodySpool* spool_;
  std::vector<Piece> pieces_;
  std::string piece_;
  size_t items_ = 0;
  bool any_ = false;
};

// JSON of a body that may be YAML; `kept` holds it then. Empty: neither.
std::string_view json_of(std::string_view body, std::string& kept);
// The object of a frame, or of a body that is an object without a type.
std::string_view object_in(std::string_view json);
// A part of a list that was too large for one record, as a list of its own.
std::string as_list(std::string_view part);

// Takes items out of a list's body, which may come in pieces.
class ItemFilter {
 public:
  // The next item, which may come in one of the next pieces: whether it stays.
  void expect(bool keep) { keep_.push_back(keep); }
  // The next piece of the body without the items that go; empty and fits() is false if it has other items than that.
  enum class Piece { kFirst, kPart };
  std::string next(std::string_view body, Piece which);
  bool fits() const { return fits_; }

 private:
  std::deque<bool> keep_;  // of the items to come
  bool any_ = false, fits_ = true;
};

}  // namespace inquest::recorder
