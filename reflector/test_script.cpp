#include "reflector/test_script.h"

#include <map>

namespace inquest::reflector {

namespace {

void append(std::string& out, std::string_view word) {
  if (!out.empty()) out += ' ';
  out += word;
}

size_t digits_at(std::string_view text) { return std::min(text.find_first_of("0123456789"), text.size()); }

}  // namespace

Config Script::without_jitter(Initial initial) {
  Config config;
  config.initial = initial;
  config.backoff.jitter_percent = 0;
  return config;
}

Object Script::object(std::string_view text) {
  const size_t quote = text.find('\'');
  const std::string_view life = quote == std::string_view::npos ? "" : text.substr(quote + 1);
  const std::string_view body = text.substr(0, quote);
  const std::string_view name = body.substr(0, digits_at(body));
  const KeyId key = catalog.key(catalog.string(""), catalog.string(name));
  const PodId pod = catalog.pod(key, catalog.string(life));
  return {key.value, pod.value, catalog.string(text).value, Rv::parse(body.substr(digits_at(body)), catalog)};
}

std::string Script::text(const Object& object) const { return std::string(catalog.text(StringId{object.version})); }

std::string Script::known() const {
  std::string out;
  reflector.known().each([&](const Object& object) { append(out, text(object)); });
  return out;
}

Refusal Script::refusal(std::istringstream& rest) {
  using Why = Refusal::Why;
  static const std::map<std::string, Why> kWhy = {{"refused", Why::kConnectionRefused},
                                                  {"429", Why::kTooManyRequests},
                                                  {"expired", Why::kExpired},
                                                  {"gone", Why::kGone},
                                                  {"large", Why::kTooLarge},
                                                  {"internal", Why::kInternalError},
                                                  {"other", Why::kOther}};
  Refusal out;
  std::string word;
  rest >> word;
  out.why = kWhy.at(word);
  if (rest >> word) out.retry_after_s = static_cast<uint32_t>(std::stoul(word.substr(word.find('=') + 1)));
  return out;
}

std::span<const Output> Script::feed_list(const std::string& word, std::istringstream& rest) {
  const size_t at = word.find('@'), more = word.find('>');
  ListPage page;
  page.rv = Rv::parse(word.substr(at + 1, more == std::string::npos ? more : more - at - 1), catalog);
  if (more != std::string::npos) page.more = catalog.string(word.substr(more + 1));
  std::vector<Object> items;
  for (std::string item; rest >> item;) items.push_back(object(item));
  page.items = items;
  return reflector.step(now, page);
}

std::span<const Output> Script::feed(const std::string& word, std::istringstream& rest) {
  static const std::map<std::string, FrameType> kFrames = {
      {"ADDED", FrameType::kAdded},         {"MODIFIED", FrameType::kModified}, {"DELETED", FrameType::kDeleted},
      {"UNKNOWN", FrameType::kUnknown},     {"TABLE", FrameType::kMismatch},    {"BOOKMARK", FrameType::kBookmark},
      {"END", FrameType::kInitialEventsEnd}};
  if (word == "start") return reflector.step(now, Start{});
  if (word == "stop") return reflector.step(now, Stop{});
  if (word == "relist") return reflector.step(now, RelistNow{});
  if (word == "open") return reflector.step(now, WatchOpened{});
  if (word == "close") return reflector.step(now, WatchClosed{});
  if (word == "list!") return reflector.step(now, ListRefused{refusal(rest)});
  if (word == "watch!") return reflector.step(now, WatchRefused{refusal(rest)});
  if (word == "error!") return reflector.step(now, ErrorFrame{refusal(rest)});
  if (word == "wait") {
    now = reflector.next_wake();
    return reflector.step(now, TimeReached{});
  }
  if (word == "later") {  // time passes
    now = now + Duration::seconds(1);
    return reflector.step(now, TimeReached{});
  }
  if (const auto frame = kFrames.find(word); frame != kFrames.end()) {
    std::string text;
    rest >> text;
    return reflector.step(now, Frame{frame->second, object(text)});
  }
  return feed_list(word, rest);
}

std::string Script::render(const Output& output) {
  struct Renderer {
    Script& script;
    std::string operator()(const Delta& delta) const {
      script.deltas.push_back(delta);
      const std::string from = delta.from == Delta::From::kList ? ":" : "";
      switch (delta.kind) {
        case Delta::Kind::kAdded:
          return from + "+" + script.text(delta.object);
        case Delta::Kind::kUpdated:
          return from + "~" + script.text(delta.before) + ">" + script.text(delta.object);
        case Delta::Kind::kDeleted:
          return from + "-" + script.text(delta.object);
        case Delta::Kind::kTombstone:
          return from + "x" + script.text(delta.object);
      }
      return "?";
    }
    std::string operator()(const Synced& synced) const { return "synced@" + synced.rv.to_string(script.catalog); }
    std::string operator()(const ListRequest& list) const {
      return "list@" + list.rv.to_string(script.catalog) +
             (list.limit == 0 ? "" : " limit=" + std::to_string(list.limit)) +
             (list.more.known() ? " more=" + std::string(script.catalog.text(list.more)) : "");
    }
    std::string operator()(const WatchRequest& watch) const {
      script.watches.push_back(watch);
      return (watch.initial_events == InitialEvents::kSend ? "stream@" : "watch@") + watch.rv.to_string(script.catalog);
    }
    std::string operator()(const Cancel&) const { return "cancel"; }
  };
  return std::visit(Renderer{*this}, output);
}

std::string Script::say(const std::string& input) {
  std::istringstream rest(input);
  std::string word;
  rest >> word;
  now = now + Duration::milliseconds(1);  // every answer takes time
  std::string out;
  for (const Output& output : feed(word, rest)) append(out, render(output));
  if (reflector.next_wake() != Time::never()) {
    append(out, "wait " + format_duration(reflector.next_wake() - now));
  }
  return out;
}

}  // namespace inquest::reflector
