#include "reflector/listing.h"

#include <utility>

#include "base/hash.h"

namespace inquest::reflector {

void Listing::clear() {
  std::vector<Object> memory = std::move(items_);
  memory.clear();
  *this = {};
  items_ = std::move(memory);
}

void Listing::begin(Rv rv, uint32_t limit) {
  clear();
  asked_ = rv;
  limit_ = limit;
  request_ = {rv, limit, {}};
}

void Listing::add(std::span<const Object> items) {
  items_.insert(items_.end(), items.begin(), items.end());
  for (const Object& object : items) {
    items_hash_ = combine(items_hash_, combine(uint64_t{object.key} << 32 | object.uid, object.version));
    items_hash_ = combine(items_hash_, object.rv.bits());
  }
}

Listing::Next Listing::page(const ListPage& page) {
  if (page.items.size() > kMaxItems - items_.size() || pages_ == kMaxPages) return Next::kFail;
  if (pages_ == 0 || whole_) rv_ = page.rv;
  ++pages_;
  add(page.items);
  if (whole_ || !page.more.known()) return Next::kDone;
  request_ = {Rv(), request_.limit, page.more};  // a resourceVersion beside `continue` is an error (5.6)
  return Next::kAsk;
}

Listing::Next Listing::refused(const Refusal& refusal) {
  const bool later_page = request_.more.known();
  if (!later_page || refusal.why != Refusal::Why::kExpired) return Next::kFail;
  items_.clear();
  items_hash_ = 0;
  whole_ = true;
  request_ = {asked_, 0, {}};
  return Next::kAsk;
}

uint64_t Listing::hash() const {
  uint64_t out = items_hash_;
  for (const uint64_t field : {request_.rv.bits(), uint64_t{request_.limit}, uint64_t{request_.more.value},
                               asked_.bits(), uint64_t{limit_}, uint64_t{pages_}, uint64_t{whole_}, rv_.bits()}) {
    out = combine(out, field);
  }
  return out;
}

}  // namespace inquest::reflector
