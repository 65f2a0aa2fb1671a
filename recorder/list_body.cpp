#include "recorder/list_body.h"

#include "recorder/json_shape.h"
#include "recorder/yaml_json.h"

namespace inquest::recorder {

std::string_view json_of(std::string_view body, std::string& kept) {
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (body[first] == '{') return body;
  auto json = yaml_to_json(body, 1);
  if (!json.ok() || json->empty() || json->front() != '{') return {};
  kept = *std::move(json);
  return kept;
}

std::string_view object_in(std::string_view json) {
  const std::string_view object = object_of(json);
  return object.empty() ? json : object;
}

std::string as_list(std::string_view part) { return "{\"items\":[" + std::string(part); }

std::string ItemFilter::next(std::string_view body, Piece which) {
  std::string wrapped;
  if (which == Piece::kPart) {
    wrapped = as_list(body);
    body = wrapped;
  }
  const std::vector<std::string_view> items = items_of(body);
  if (items.size() > keep_.size()) fits_ = false;
  if (!fits_) return {};
  if (items.empty()) return std::string(body.substr(which == Piece::kPart ? as_list("").size() : 0));
  const size_t begin = static_cast<size_t>(items.front().data() - body.data());
  std::string out(which == Piece::kFirst ? body.substr(0, begin) : std::string_view());
  for (const std::string_view item : items) {
    const bool keep = keep_.front();
    keep_.pop_front();
    if (!keep) continue;
    if (any_) out += ',';
    any_ = true;
    out.append(item);
  }
  std::string_view rest = body.substr(static_cast<size_t>(items.back().data() - body.data()) + items.back().size());
  const size_t solid = rest.find_first_not_of(" \t\r\n,");
  if (solid != std::string_view::npos) out.append(rest.substr(solid));
  return out;
}

}  // namespace inquest::recorder
