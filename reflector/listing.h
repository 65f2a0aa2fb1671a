// Listing: one list, in as many requests as it takes (kubernetes-facts 5.2, "Pager").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reflector/input.h"
#include "reflector/output.h"

namespace inquest::reflector {

class Listing {
 public:
  // More than any cluster holds; a server that goes on beyond is not believed.
  static constexpr size_t kMaxItems = size_t{1} << 23;
  static constexpr uint32_t kMaxPages = uint32_t{1} << 16;

  enum class Next : uint8_t {
    kAsk,   // send request()
    kDone,  // items() and rv() are the list
    kFail,
  };

  // A list at `rv` in pages of `limit` items, 0 for all at once. Send request().
  void begin(Rv rv, uint32_t limit);
  Next page(const ListPage& page);
  Next refused(const Refusal& refusal);

  const ListRequest& request() const { return request_; }
  std::span<const Object> items() const { return items_; }
  Rv rv() const { return rv_; }                  // the first page's; all carry the same
  bool paginated() const { return pages_ > 1; }  // the server split it
  uint32_t limit() const { return limit_; }

  void clear();  // keeps the memory
  uint64_t hash() const;

 private:
  void add(std::span<const Object> items);

  ListRequest request_;
  Rv asked_;  // of the first page
  uint32_t limit_ = 0;
  uint32_t pages_ = 0;
  bool whole_ = false;  // a later page had expired, so that all is asked for at once
  Rv rv_;
  std::vector<Object> items_;
  uint64_t items_hash_ = 0;
};

}  // namespace inquest::reflector
