#include "kube/decode.h"

#include <limits>

#include "kube/decode_object.h"

namespace inquest::kube {
namespace {

Error refused(std::string text, std::string next = "") {
  return {ErrorCode::kInput, std::move(text), "", std::move(next)};
}

Error table_error() {
  return refused("a Table, which has no specs", "ask the API server for plain JSON (Accept: application/json)");
}

std::optional<DecodedFrame::Type> frame_type(std::string_view text) {
  if (text == "ADDED") return DecodedFrame::Type::kAdded;
  if (text == "MODIFIED") return DecodedFrame::Type::kModified;
  if (text == "DELETED") return DecodedFrame::Type::kDeleted;
  if (text == "BOOKMARK") return DecodedFrame::Type::kBookmark;
  if (text == "ERROR") return DecodedFrame::Type::kError;
  return std::nullopt;
}

int code_of(const RawObject& raw) {
  return raw.code >= 0 && raw.code <= std::numeric_limits<uint16_t>::max() ? static_cast<int>(raw.code) : 0;
}

// What makes an object one: a kind is not needed, since old servers leave it out in lists.
std::optional<Error> unusable(const RawObject& raw) {
  if (raw.is_table()) return table_error();
  if (!raw.meta.present) return refused("an object without metadata");
  return std::nullopt;
}

}  // namespace

struct Decoder::Impl {
  explicit Impl(Catalog& to) : catalog(to), reader(walk) {}

  Result<DecodedFrame> frame(std::string_view text);
  Result<DecodedList> list(std::string_view text);
  Result<const RawObject*> object(std::string_view text);
  void read_items(Item& item, const ItemType& type, DecodedList& out);

  Catalog& catalog;
  JsonWalk walk;
  ObjectReader reader;
};

Result<DecodedFrame> Decoder::Impl::frame(std::string_view text) {
  INQUEST_TRY(const json::object root, walk.open(text));
  const RawObject* raw = nullptr;
  std::optional<std::string_view> type;
  bool bare = false;
  walk.each_field(root, [&](Item& item) {
    const Path path = Path::field_of(nullptr, item.key);
    if (item.key == "type") {
      type = walk.text(item, path);
    } else if (item.key == "object") {
      if (const std::optional<json::object> object = walk.object(item, path)) {
        raw = &reader.read(*object, ItemType{}, nullptr);
      }
    } else if (item.key == "kind") {
      bare = true;
    }
  });
  INQUEST_TRY_VOID(walk.finish());
  if (!type && bare) return refused("an object, not a watch frame");
  if (!type) return refused("a watch frame without a type");
  const std::optional<DecodedFrame::Type> known = frame_type(*type);
  if (!known) return refused("a watch frame of the unknown type " + quoted(*type));
  DecodedFrame frame;
  frame.type = *known;
  if (*known == DecodedFrame::Type::kError) {
    if (raw == nullptr) return frame;
    frame.code = code_of(*raw);
    frame.reason = raw->reason;
    frame.message = raw->message;
    return frame;
  }
  if (raw == nullptr) return refused("a watch frame without an object");
  if (std::optional<Error> error = unusable(*raw)) return *std::move(error);
  frame.rv = raw->meta.rv;
  if (*known == DecodedFrame::Type::kBookmark) {
    frame.initial_events_end = raw->meta.initial_events_end;
  } else {
    frame.object = to_facts(*raw, catalog);
  }
  return frame;
}

namespace {

// What a list says about itself.
struct ListHead {
  std::string_view kind, api_version, message;
  bool kind_seen = false, version_seen = false;
  bool has_items = false;
  RawMeta meta;

  bool named() const { return kind_seen && version_seen; }
  // "PodList" holds Pods; a "List" holds anything, so its items must say what they are.
  ItemType items() const {
    if (!kind.ends_with("List") || kind == "List") return {};
    return {kind.substr(0, kind.size() - 4), api_version};
  }
};

void read_head(JsonWalk& walk, ObjectReader& reader, Item& item, const Path& path, ListHead& head) {
  const auto text = [&] { return walk.text(item, path).value_or(std::string_view()); };
  if (item.key == "kind") {
    head.kind = text();
    head.kind_seen = true;
  } else if (item.key == "apiVersion") {
    head.api_version = text();
    head.version_seen = true;
  } else if (item.key == "metadata") {
    head.meta = reader.meta(item, path);
  } else if (item.key == "message") {
    head.message = text();
  }
}

std::optional<Error> unusable(const ListHead& head) {
  if (head.kind == "Table") return table_error();
  if (head.has_items || head.kind.ends_with("List")) return std::nullopt;
  if (head.kind == "Status") return refused("a Status, not a list: " + quoted(head.message));
  return refused("an object of kind " + quoted(head.kind) + ", not a list");
}

}  // namespace

void Decoder::Impl::read_items(Item& item, const ItemType& type, DecodedList& out) {
  const Path path = Path::field_of(nullptr, item.key);
  out.objects.clear();
  out.left_out = 0;
  walk.each_element(item, path, [&](Item& element, const Path& at) {
    const std::optional<json::object> object = walk.object(element, at);
    if (!object) {
      ++out.left_out;
      if (element.type == json::json_type::null) walk.warn(at, "null where an object is expected; left out");
      return;
    }
    const RawObject& raw = reader.read(*object, type, &at);
    if (walk.broken()) return;
    if (raw.meta.present) {
      out.objects.push_back(to_facts(raw, catalog));
    } else {
      ++out.left_out;
      walk.warn(at, "an object without metadata; left out");
    }
  });
}

Result<DecodedList> Decoder::Impl::list(std::string_view text) {
  INQUEST_TRY(json::object root, walk.open(text));
  DecodedList list;
  ListHead head;
  bool deferred = false;  // the items came before the list's kind, on which they depend
  walk.each_field(root, [&](Item& item) {
    if (item.key != "items") return read_head(walk, reader, item, Path::field_of(nullptr, item.key), head);
    head.has_items = true;
    deferred = deferred || !head.named();
    if (!deferred) read_items(item, head.items(), list);
  });
  bool more = false;
  if (deferred && !walk.broken() && root.reset().get(more) == simdjson::SUCCESS) {
    walk.each_field(root, [&](Item& item) {
      if (item.key == "items") read_items(item, head.items(), list);
    });
  }
  INQUEST_TRY_VOID(walk.finish());
  if (std::optional<Error> error = unusable(head)) return *std::move(error);
  list.kind = head.kind;
  list.rv = head.meta.rv;
  list.continue_token = head.meta.list_continue;
  return list;
}

Result<const RawObject*> Decoder::Impl::object(std::string_view text) {
  INQUEST_TRY(const json::object root, walk.open(text));
  const RawObject& raw = reader.read(root, ItemType{}, nullptr);
  INQUEST_TRY_VOID(walk.finish());
  return &raw;
}

Decoder::Decoder(Catalog& catalog) : impl_(std::make_unique<Impl>(catalog)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Result<DecodedFrame> Decoder::frame(std::string_view json) { return impl_->frame(json); }

Result<DecodedList> Decoder::list(std::string_view json) { return impl_->list(json); }

Result<ObjectFacts> Decoder::object(std::string_view json) {
  INQUEST_TRY(const RawObject* raw, impl_->object(json));
  if (std::optional<Error> error = unusable(*raw)) return *std::move(error);
  return to_facts(*raw, impl_->catalog);
}

Result<DecodedStatus> Decoder::status(std::string_view json) {
  INQUEST_TRY(const RawObject* raw, impl_->object(json));
  const bool unnamed = raw->kind.empty() && (raw->code != 0 || !raw->reason.empty() || !raw->message.empty());
  if (raw->kind != "Status" && !unnamed) return refused("an object of kind " + quoted(raw->kind) + ", not a Status");
  return DecodedStatus{code_of(*raw), std::string(raw->reason), std::string(raw->message)};
}

std::vector<Warning> Decoder::take_warnings() { return impl_->walk.take_warnings(); }

uint64_t Decoder::warning_count() const { return impl_->walk.warning_count(); }

}  // namespace inquest::kube
