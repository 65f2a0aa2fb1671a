// LongList: a LIST answer too large to be held, read as it streams by. Its items are found by their brackets, decoded
// and redacted a few at a time, and put aside on disk, facts and body; memory holds a few of them, however many come.
//
// Fed by LineSource (a capture line whose body is the list) or ValueSource (the list itself). Limits: one item 8 MiB, a
// list 1 GiB. Anything that is no list, or breaks off, is an error and kept nowhere. Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/decode.h"
#include "recorder/body_spool.h"
#include "recorder/json_brackets.h"
#include "recorder/line_parser.h"
#include "recorder/long_reader.h"
#include "recorder/redact.h"
#include "schema/packed_record.h"

namespace inquest::recorder {

class LongList : public LongReader {
 public:
  enum class Form : uint8_t { kCaptureLine, kValue };
  LongList(Form form, Redactor& redactor, BodySpool& spool)
      : form_(form), decoder_(catalog_), redactor_(&redactor), spool_(&spool) {}

  bool begin(std::string_view prefix) override;
  void more(std::string_view chunk) override;
  void end() override;

  // What was read last.
  struct List {
    std::string kind;  // "PodList"
    ResourceVersion rv = 0;
    std::string continue_token;
    uint64_t objects = 0;
    uint64_t left_out = 0;  // items that are no objects or have no metadata
    uint64_t too_long = 0;  // objects left out because of a name
    bool one_kind = true;   // its objects are all pods, or all nodes, …
  };
  Result<const List*> list() const;
  const CaptureLine& line() const { return line_; }          // of a capture line, without its body
  const std::string& envelope() const { return envelope_; }  // of a capture line, the body's text taken out …
  size_t hole() const { return hole_; }                      // … here; empty if it is written in no form that we know
  // Piece by piece: some of the objects, by the ordinals of `catalog`, and what the body says of them, redacted.
  struct Piece {
    std::vector<ObjectFacts> objects;
    std::string body;
  };
  size_t pieces() const { return pieces_.size(); }
  Result<Piece> piece(size_t i, Catalog& catalog);
  // What it has to say of the objects read.
  kube::Decoder& decoder() { return decoder_; }

 private:
  void take(std::string_view bytes);
  void take_escaped(std::string_view chunk);
  void flush_piece(bool last);
  void read_line();
  void put_aside(kube::DecodedList part, std::string_view body);
  void fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }

  Form form_;
  Catalog catalog_;  // of the piece at hand
  kube::Decoder decoder_;
  Redactor* redactor_;
  BodySpool* spool_;
  LineParser parser_;
  trace::RecordPacker packer_;

  List list_;
  CaptureLine line_;
  std::string envelope_, line_text_, error_;
  size_t hole_ = 0;
  size_t kind_ = 0;  // of the first object, by ObjectFacts
  struct Aside {
    BodySpool::Ref facts, body;
  };
  std::vector<Aside> pieces_;

  // The envelope and the escapes of the body.
  std::string carry_, suffix_, unescaped_;
  bool in_body_ = false, short_ = true;

  // The body.
  std::string piece_, head_, wrapped_, key_;
  JsonBrackets brackets_;
  bool in_items_ = false, first_ = true;
  size_t string_begin_ = 0;
};

}  // namespace inquest::recorder
