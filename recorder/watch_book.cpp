#include "recorder/watch_book.h"

#include <algorithm>
#include <charconv>

namespace inquest::recorder {
namespace {

std::string_view next_segment(std::string_view& rest) {
  const size_t slash = rest.find('/');
  const std::string_view segment = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return segment;
}

// "/api/v1/pods", "/apis/GROUP/VERSION/namespaces/NS/RESOURCE", with "watch/" before the resource in old clients.
std::string resource_of(std::string_view path) {
  if (path.substr(0, 1) != "/") return "";
  path.remove_prefix(1);
  const std::string_view root = next_segment(path);
  if (root == "apis") {
    next_segment(path);  // group
  } else if (root != "api") {
    return "";
  }
  next_segment(path);  // version
  std::string_view segment = next_segment(path);
  if (segment == "watch") segment = next_segment(path);
  if (segment == "namespaces" && path.find('/') != std::string_view::npos) {
    next_segment(path);  // its name
    segment = next_segment(path);
  }
  return std::string(segment);
}

}  // namespace

WatchPath parse_watch_path(std::string_view path) {
  WatchPath out;
  const size_t question = path.find('?');
  out.resource = resource_of(path.substr(0, question));
  std::string_view query = question == std::string_view::npos ? std::string_view() : path.substr(question + 1);
  while (!query.empty()) {
    const size_t amp = query.find('&');
    std::string_view item = query.substr(0, amp);
    query = amp == std::string_view::npos ? std::string_view() : query.substr(amp + 1);
    constexpr std::string_view kKey = "resourceVersion=";
    if (item.substr(0, kKey.size()) != kKey) continue;
    item.remove_prefix(kKey.size());
    ResourceVersion rv = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), rv);
    if (error == std::errc() && end == item.data() + item.size()) out.rv = rv;
  }
  return out;
}

void WatchBook::reach(ResourceVersion rv) {
  last_ = std::max(last_, rv);
  begun_ = true;
}

WatchBook::Place WatchBook::list(ResourceVersion rv) {
  Place place;
  place.checkpoint = open_;
  if (open_) return place;  // its rv may be ahead of the frames still under way: the book does not follow it
  if (begun_ && rv > last_) {
    place.gap = Gap{last_, rv, "listed anew: changes in between, if any, were not seen one by one"};
  }
  reach(rv);
  return place;
}

std::optional<Gap> WatchBook::open(ResourceVersion rv) {
  std::optional<Gap> gap;
  if (rv > last_) {
    gap = Gap{last_, rv,
              begun_ ? "the watch opened beyond what the stream had seen: changes in between, if any, were not seen"
                     : "the watch opened without a list before it: what there was by then is not known"};
  } else if (rv == 0 && begun_ && last_ > 0) {
    gap = Gap{last_, 0, "the watch opened anew without a resourceVersion: changes in between were not seen one by one"};
  }
  open_ = true;
  reach(rv);
  return gap;
}

void WatchBook::frame(ResourceVersion rv) {
  open_ = true;
  reach(rv);
}

}  // namespace inquest::recorder
