#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <span>

#include "base/hash_map.h"
#include "cli/verb.h"
#include "cli/when.h"
#include "kube/json_diff.h"
#include "replayer/identity.h"
#include "replayer/plan.h"
#include "report/record_report.h"
#include "report/text.h"
#include "schema/identity_hash.h"
#include "schema/reader.h"

namespace inquest::cli {
namespace {

using trace::Record;

constexpr std::streamoff kPrinted = 1 << 20;      // bytes at a time
constexpr size_t kMaxObjects = size_t{2} << 20;   // alive at once, whose versions are compared
constexpr size_t kBodiesHeld = size_t{32} << 20;  // of versions that may be compared with the next

// How much of the text, up to `size` bytes, ends with a whole character.
size_t end_of_characters(std::string_view text, size_t size) {
  if (text.size() <= size) return text.size();
  constexpr size_t kLongest = 4;
  for (size_t end = size; end > size - kLongest; --end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80) return end;
  }
  return size;  // no UTF-8
}

class Records : public Verb {
 public:
  std::string_view name() const override { return "records"; }
  std::string_view about() const override { return "The records of a trace, one a line; with bodies, or what changed"; }
  std::string_view example() const override { return "inquest records hostport.trace --name pod1 --diff"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "The trace")->required()->type_name("FILE");
    app.add_option(
           "--kind", kinds_,
           "list, frame, bookmark, error, open, close, bind, answer, gap, undecodable, or source: what only export "
           "needs, shown only when asked for; repeatable")
        ->type_name("KIND");
    app.add_option("--verb", verb_, "Of frames")->type_name("ADDED | MODIFIED | DELETED");
    app.add_option("--stream", stream_, "Of this stream: a name, * and ? allowed")->type_name("GLOB");
    app.add_option("--name", name_, "About an object of this name, * and ? allowed")->type_name("GLOB");
    app.add_option("--uid", uid_, "About an object whose uid begins so")->type_name("UID");
    app.add_option("--from", from_, "Not before: +12.5s, @43 or RFC 3339")->type_name("WHEN");
    app.add_option("--to", to_, "Before: the same")->type_name("WHEN");
    app.add_option("--rv", rv_, "With this resourceVersion")->type_name("RV");
    app.add_option("--limit", limit_, "At most so many [no limit]")->type_name("COUNT");
    app.add_flag("--body", body_, "Each with its body, byte for byte");
    CLI::Option* diff = app.add_flag("--diff", diff_, "Each frame with what changed since the object's version before");
    app.add_flag("--json", json_, "Print JSON")->excludes(diff);
  }

  ExitCode run(Terminal& terminal) override {
    if (auto parsed = parse(); !parsed.ok()) return terminal.fail(parsed.error());
    auto reader = trace::TraceReader::open(trace_);
    if (!reader.ok()) return terminal.fail(reader.error());
    for (const trace::StreamSummary& summary : reader->info().streams) {
      streams_.resize(std::max<size_t>(streams_.size(), size_t{summary.stream.id.value} + 1));
      streams_[summary.stream.id.value] = summary.stream.name;
    }
    if (auto shown = show_all(*reader, terminal); !shown.ok()) return terminal.fail(shown.error());
    return reader->info().complete() ? ExitCode::kOk : ExitCode::kMissing;
  }

 private:
  Result<void> parse() {
    for (const std::string& kind : kinds_) {
      const auto known = report::record_kind(kind);
      if (!known) {
        return Error{ErrorCode::kUsage, "there is no kind '" + kind + "'", "--kind", "see inquest records --help"};
      }
      wanted_.push_back(*known);
    }
    if (!verb_.empty() && verb_ != "ADDED" && verb_ != "MODIFIED" && verb_ != "DELETED") {
      return Error{ErrorCode::kUsage, "'" + verb_ + "' is none of ADDED, MODIFIED, DELETED", "--verb " + verb_, ""};
    }
    if (!from_.empty()) {
      INQUEST_TRY(from_when_, parse_when("--from", from_));
    }
    if (!to_.empty()) {
      INQUEST_TRY(to_when_, parse_when("--to", to_));
    }
    return {};
  }

  Result<void> show_all(trace::TraceReader& reader, Terminal& terminal) {
    report::JsonWriter json("records");
    if (json_) json.field("file", trace_).key("records").begin_array();
    for (uint64_t shown = 0; shown < limit_;) {
      reader.forget_names_beyond(trace::kWalkNames);
      INQUEST_TRY(const Record* next, reader.next());
      if (next == nullptr) break;
      if (to_when_ && !to_when_->after(*next, reader.info().start)) {
        if (to_when_->seq) break;  // by time a later record may stand earlier
        continue;
      }
      const Record record = *next;  // reading a body may move the reader's own
      INQUEST_TRY(const bool wanted, matches(reader, record));
      if (diff_) INQUEST_TRY_VOID(remember(reader, record, wanted));
      if (!wanted) continue;
      ++shown;
      INQUEST_TRY_VOID(show(reader, record, json, terminal));
      print_long(terminal);
    }
    if (json_) terminal.out << json.end_array().finish();
    if (not_kept_ > 0) {
      terminal.warn(report::counted(not_kept_, "frame") + " of objects beyond the first " + report::count(kMaxObjects) +
                    " alive at once: what changed since is not shown");
    }
    return {};
  }

  // Only a LIST may go on in the records behind it, and looking there costs a walk through the batch.
  Result<void> read_body(trace::TraceReader& reader, const Record& record, const trace::TraceReader::BodyUse& use) {
    if (record.kind == trace::RecordKind::kList) {
      INQUEST_TRY_VOID(open_past(reader));
      return past_->whole_body(record.seq, [&](std::string_view piece) -> Result<void> {
        INQUEST_TRY_VOID(use(piece));
        past_->forget_names_beyond(trace::kWalkNames);
        return {};
      });
    }
    INQUEST_TRY(const std::string body, reader.body(record.seq));
    return use(body);
  }

  // What is not the record at hand is read by a reader of its own, whose names can be forgotten on the way.
  Result<void> open_past(const trace::TraceReader& reader) {
    if (past_) return {};
    INQUEST_TRY(auto opened, trace::TraceReader::open(reader.path()));
    past_.emplace(std::move(opened));
    return {};
  }

  // Hands some objects of the record at a time, and the names they go by, to `use`, as long as it says true.
  using ObjectsUse = std::function<bool(const Catalog&, std::span<const ObjectFacts>)>;
  Result<void> read_objects(trace::TraceReader& reader, const Record& record, const ObjectsUse& use) {
    using Go = trace::TraceReader::Go;
    if (record.more_objects == 0) {
      hand_out(reader.catalog(), record.objects, use);
      return {};
    }
    INQUEST_TRY_VOID(open_past(reader));
    INQUEST_TRY_VOID(past_->list(record.seq, [&](const Record& part) -> Result<Go> {
      const bool more = hand_out(past_->catalog(), part.objects, use);
      past_->forget_names_beyond(trace::kWalkNames);
      return more ? Go::kOn : Go::kNoFurther;
    }));
    return {};
  }
  static bool hand_out(const Catalog& names, std::span<const ObjectFacts> objects, const ObjectsUse& use) {
    constexpr size_t kSome = 1000;
    for (size_t at = 0; at < objects.size(); at += kSome) {
      if (!use(names, objects.subspan(at, std::min(kSome, objects.size() - at)))) return false;
    }
    return true;
  }

  // What there is to say may be more than memory should hold.
  static void print_long(Terminal& terminal) {
    if (terminal.out.tellp() >= kPrinted) terminal.out.flush();
  }

  Result<void> show(trace::TraceReader& reader, const Record& record, report::JsonWriter& json, Terminal& terminal) {
    const std::string& stream = streams_[record.stream.value];
    if (json_) {
      report::begin_record(json, reader.catalog(), record, stream, reader.info().start);
      INQUEST_TRY_VOID(read_objects(reader, record, [&](const Catalog& names, std::span<const ObjectFacts> objects) {
        report::add_objects(json, names, objects);
        terminal.out << json.take();
        print_long(terminal);
        return true;
      }));
      json.end_array();
      if (body_) {
        json.key("body").begin_text();
        INQUEST_TRY_VOID(read_body(reader, record, [&](std::string_view piece) -> Result<void> {
          constexpr size_t kSome = size_t{1} << 20;
          while (!piece.empty()) {
            const std::string_view some = piece.substr(0, end_of_characters(piece, kSome));
            json.more_text(some);
            terminal.out << json.take();
            print_long(terminal);
            piece.remove_prefix(some.size());
          }
          return {};
        }));
        json.end_text();
      }
      json.end_object();
      terminal.out << json.take();
      return {};
    }
    terminal.out << report::record_line(reader.catalog(), record, stream, reader.info().start);
    if (diff_) terminal.out << changes_;
    if (!body_) return {};
    char last = '\n';
    INQUEST_TRY_VOID(read_body(reader, record, [&](std::string_view piece) -> Result<void> {
      terminal.out << piece;
      print_long(terminal);
      if (!piece.empty()) last = piece.back();
      return {};
    }));
    if (last != '\n') terminal.out << '\n';
    return {};
  }

  // What changed in the object of a frame since its version before; kept in changes_. The version before is found by
  // its record, so that memory holds a number an object; its body too, if that was a short while ago.
  Result<void> remember(trace::TraceReader& reader, const Record& record, bool wanted) {
    changes_.clear();
    if (record.kind != trace::RecordKind::kFrame || record.objects.empty()) return {};
    const uint64_t identity = identity_hash(reader.catalog(), record.objects.front());
    trace::Seq* before = latest_.find(identity);
    if (wanted) {
      INQUEST_TRY(std::string body, reader.body(record.seq));
      if (before != nullptr) {
        INQUEST_TRY(const std::string old_body, body_before(reader, *before));
        INQUEST_TRY(const auto changes, kube::diff_json(old_body, body));
        changes_ = report::changes_text(changes);
      }
      hold(record.seq, std::move(body));
    }
    if (record.verb == inquest::Verb::kDeleted) {
      latest_.erase(identity);
    } else if (before != nullptr) {
      *before = record.seq;
    } else if (latest_.size() < kMaxObjects) {
      latest_[identity] = record.seq;
    } else {
      ++not_kept_;
    }
    return {};
  }

  Result<std::string> body_before(trace::TraceReader& reader, trace::Seq seq) {
    if (std::string* held = bodies_.find(seq); held != nullptr) return *held;
    INQUEST_TRY_VOID(open_past(reader));
    past_->forget_names_beyond(trace::kWalkNames);
    return past_->body(seq);
  }

  void hold(trace::Seq seq, std::string body) {
    held_bytes_ += body.size() + sizeof(std::string);
    if (held_bytes_ > kBodiesHeld) {
      bodies_.clear();
      held_bytes_ = body.size();
    }
    if (body.size() < kBodiesHeld / 4) bodies_[seq] = std::move(body);
  }

  Result<bool> matches(trace::TraceReader& reader, const Record& record) {
    if (wanted_.empty() && record.kind == trace::RecordKind::kSource) return false;
    if (!wanted_.empty() && std::find(wanted_.begin(), wanted_.end(), record.kind) == wanted_.end()) return false;
    if (!verb_.empty() && (record.kind != trace::RecordKind::kFrame || report::name_of(record.verb) != verb_))
      return false;
    if (!stream_.empty() && !replayer::glob_matches(stream_, streams_[record.stream.value])) return false;
    if (from_when_ && from_when_->after(record, reader.info().start)) return false;
    if (rv_ && *rv_ != record.rv) return false;
    if (name_.empty() && uid_.empty()) return true;
    const Catalog& catalog = reader.catalog();
    if (record.bind.pod && about(catalog.name(catalog.key_of(record.bind.pod)), catalog.uid(record.bind.pod)))
      return true;
    bool found = false;
    INQUEST_TRY_VOID(read_objects(reader, record, [&](const Catalog& names, std::span<const ObjectFacts> objects) {
      found = std::any_of(objects.begin(), objects.end(), [&](const ObjectFacts& o) { return about(names, o); });
      return !found;
    }));
    return found;
  }

  bool about(const Catalog& names, const ObjectFacts& object) const {
    if (const auto* event = std::get_if<EventFacts>(&object); event != nullptr && event->regarding) {
      if (about(names.name(event->regarding), names.text(event->regarding_uid))) return true;
    }
    const replayer::Identity identity = replayer::identify(names, object).first;
    return about(identity.node ? names.node_name(identity.node) : names.name(identity.key), names.text(identity.uid));
  }

  bool about(std::string_view name, std::string_view uid) const {
    return (name_.empty() || replayer::glob_matches(name_, name)) && uid.starts_with(uid_);
  }

  std::string trace_, verb_, stream_, name_, uid_, from_, to_;
  std::vector<std::string> kinds_;
  std::optional<ResourceVersion> rv_;
  uint64_t limit_ = UINT64_MAX;
  bool body_ = false, diff_ = false, json_ = false;

  std::vector<trace::RecordKind> wanted_;
  std::optional<When> from_when_, to_when_;
  std::vector<std::string> streams_;  // names, by id
  std::optional<trace::TraceReader> past_;
  HashMap<trace::Seq> latest_;   // by identity_hash()
  HashMap<std::string> bodies_;  // by record
  size_t held_bytes_ = 0;
  uint64_t not_kept_ = 0;
  std::string changes_;
};

}  // namespace

std::unique_ptr<Verb> records_verb() { return std::make_unique<Records>(); }

}  // namespace inquest::cli
