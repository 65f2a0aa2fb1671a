#include "recorder/output_file.h"
#include "recorder/redact.h"
#include "recorder/source.h"
#include "recorder/yaml_json.h"
#include "schema/reader.h"
#include "schema/whole.h"
#include "schema/writer.h"

namespace inquest::recorder {
namespace {

constexpr size_t kNamesKept = size_t{44} << 20;  // of memory, in the catalog that reader and writer share

class Rewrite {
 public:
  Rewrite(trace::TraceReader& reader, trace::TraceWriter& writer, Redactor& redactor)
      : reader_(&reader), writer_(&writer), redactor_(&redactor) {}

  Result<void> run() {
    for (const trace::StreamSummary& summary : reader_->info().streams) {
      trace::Stream stream = summary.stream;
      for (std::string* text : {&stream.name, &stream.resource}) *text = redactor_->redact_text(*text);
      INQUEST_TRY(const trace::StreamId id, writer_->add_stream(stream));
      static_cast<void>(id);
    }
    for (;;) {
      INQUEST_TRY(const trace::Record* record, reader_->next());
      if (record == nullptr) break;
      INQUEST_TRY(const std::string body, reader_->body(record->seq));
      const trace::Record clean = cleaned(*record);
      INQUEST_TRY(const trace::Seq seq,
                  is_form(*record) ? append_form(clean, body) : writer_->append(clean, kept(*record, body)));
      INQUEST_CHECK(seq == record->seq, seq, record->seq);
      if (!reader_->at_batch_end() || reader_->catalog().memory() <= kNamesKept) continue;
      INQUEST_TRY_VOID(writer_->forget_names());
      reader_->forget_names();
    }
    for (const trace::TraceLoss& loss : reader_->info().losses) {
      writer_->add_loss(loss.source, std::string(redactor_->redact_text(loss.what)), loss.count);
    }
    for (const trace::TraceLoss& note : reader_->info().all_notes())
      writer_->add_note(note.source, note.what, note.count);
    return {};
  }

 private:
  // What the facts repeat of the texts of a body, without secrets.
  StringId cleaned(StringId id) {
    if (!id.known()) return id;
    Catalog& catalog = reader_->mutable_catalog();
    const std::string_view text = catalog.text(id), kept = redactor_->redact_text(text);
    return kept.data() == text.data() ? id : catalog.string(kept);
  }
  KeyId cleaned(KeyId key) {
    Catalog& catalog = reader_->mutable_catalog();
    return key.known() ? catalog.key(cleaned(catalog.ns_id(key)), cleaned(catalog.name_id(key))) : key;
  }
  PodId cleaned(PodId pod) {
    Catalog& catalog = reader_->mutable_catalog();
    return pod.known() ? catalog.pod(cleaned(catalog.key_of(pod)), cleaned(catalog.uid_id(pod))) : pod;
  }
  template <typename... Id>
  void clean(Id&... ids) {
    ((ids = cleaned(ids)), ...);
  }
  void clean(ObjectFacts& object) {
    if (auto* pod = std::get_if<PodFacts>(&object)) clean(pod->pod, pod->scheduler);
    if (auto* node = std::get_if<NodeFacts>(&object)) clean(node->uid);
    if (auto* other = std::get_if<OtherFacts>(&object)) clean(other->kind, other->key, other->uid);
    if (auto* event = std::get_if<EventFacts>(&object)) {
      clean(event->key, event->uid, event->reason, event->controller, event->regarding_kind, event->regarding,
            event->regarding_uid);
    }
  }
  trace::Record cleaned(const trace::Record& record) {
    trace::Record out = record;
    clean(out.path, out.text, out.bind.pod, out.bind.scheduler, out.bind.user, out.bind.agent, out.bind.reason,
          out.bind.message);
    for (ObjectFacts& object : out.objects) clean(object);
    return out;
  }

  std::string_view text_of(const trace::Record& record) const {
    return record.text.known() ? reader_->catalog().text(record.text) : std::string_view();
  }
  bool is_form(const trace::Record& record) const {
    return record.kind == trace::RecordKind::kSource && text_of(record) == kSourceEnvelope;
  }

  // Without a text export writes the record before in the usual form.
  Result<trace::Seq> append_form(const trace::Record& record, const std::string& body) {
    trace::Record form = record;
    size_t hole = record.rv;
    const std::string_view text = redactor_->redact_form(body, hole);
    form.rv = hole;
    return writer_->append(form, text);
  }

  std::string_view kept(const trace::Record& record, const std::string& body) {
    const std::string_view text = text_of(record);
    if (record.kind == trace::RecordKind::kSource) {
      // The line of the record before, in a form that cannot be redacted: export writes it in its own.
      if (text == kSourceWhole) return changed_ ? std::string_view() : redactor_->redact(body);
      if (text == kSourcePart) return redactor_->redact_items(body);
    }
    std::string_view out = redactor_->redact(body);
    if (out.data() != body.data() && body.find_first_not_of(" \t\r\n") != body.find('{')) out = of_yaml(body, out);
    changed_ = out.data() != body.data();
    return out;
  }

  // What is no JSON may be YAML, which the lenient reading would spoil.
  std::string_view of_yaml(const std::string& body, std::string_view lenient) {
    lenient_ = lenient;
    auto json = yaml_to_json(body, 1);
    if (!json.ok() || json->empty() || json->front() != '{') return lenient_;
    json_ = *std::move(json);
    const std::string_view out = redactor_->redact(json_);
    const bool clean = out.data() == json_.data() && redactor_->redact_text(body).data() == body.data();
    return clean ? std::string_view(body) : out;  // a comment may hold one, too
  }

  trace::TraceReader* reader_;
  trace::TraceWriter* writer_;
  Redactor* redactor_;
  std::string json_, lenient_;
  bool changed_ = false;
};

}  // namespace

Result<RedactedTrace> redact_trace(const std::string& in, const std::string& out, const RedactRules& rules,
                                   Existing existing) {
  INQUEST_TRY(auto reader, trace::TraceReader::open(in));
  INQUEST_TRY_VOID(trace::check_whole(reader, in));
  INQUEST_TRY(auto output, OutputFile::prepare(out, existing == Existing::kReplace ? OutputFile::Existing::kReplace
                                                                                   : OutputFile::Existing::kRefuse));
  const trace::TraceInfo& info = reader.info();
  const trace::TraceHeader header{info.cluster_version, info.server, info.scope};
  Redactor redactor(rules);
  {
    INQUEST_TRY(auto writer,
                trace::TraceWriter::create(output.temporary(), header, reader.catalog(),
                                           trace::TraceWriter::Existing::kRefuse, trace::WriterOptions::keep()));
    INQUEST_TRY_VOID(Rewrite(reader, writer, redactor).run());
    for (size_t i = 0; i < kSecretKinds.size(); ++i) {
      writer.add_note("", std::string("redacted: ") + kSecretKinds[i], redactor.counts()[i]);
    }
    if (info.state != trace::TraceState::kClosed) writer.add_loss("", "the trace redacted was not closed", 1);
    INQUEST_TRY_VOID(writer.close());
  }
  INQUEST_TRY_VOID(output.finish());
  return RedactedTrace{redactor.counts()};
}

}  // namespace inquest::recorder
