// LongList: a LIST answer too large to be held, read as it streams by. Its items are found by their brackets, decoded
// and redacted a few at a time, and put aside on disk; only their facts stay in memory.
//
// Fed by LineSource (a capture line whose body is the list) or ValueSource (the list itself). Limits: one item 8 MiB, a
// list 1 GiB, 262,144 items, 48 MiB of memory for their names. Anything that is no list, or breaks off, is an error and
// kept nowhere. Not thread-safe.
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

namespace inquest::recorder {

class LongList : public LongReader {
 public:
  enum class Form : uint8_t { kCaptureLine, kValue };
  LongList(Form form, const Catalog& catalog, kube::Decoder& decoder, Redactor& redactor, BodySpool& spool)
      : form_(form), catalog_(&catalog), decoder_(&decoder), redactor_(&redactor), spool_(&spool) {}

  bool begin(std::string_view prefix) override;
  void more(std::string_view chunk) override;
  void end() override;

  // What was read last.
  Result<kube::DecodedList*> list();
  const CaptureLine& line() const { return line_; }          // of a capture line, without its body
  const std::string& envelope() const { return envelope_; }  // of a capture line, the body's text taken out …
  size_t hole() const { return hole_; }                      // … here; empty if it is written in no form that we know
  const std::vector<BodySpool::Ref>& pieces() const { return pieces_; }  // of the body
  BodySpool& spool() { return *spool_; }

 private:
  void take(std::string_view bytes);
  void take_escaped(std::string_view chunk);
  void flush_piece(bool last);
  void read_line();
  void fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }

  Form form_;
  const Catalog* catalog_;
  kube::Decoder* decoder_;
  Redactor* redactor_;
  BodySpool* spool_;
  LineParser parser_;

  kube::DecodedList list_;
  CaptureLine line_;
  std::string envelope_, line_text_, error_;
  size_t hole_ = 0, names_before_ = 0;
  std::vector<BodySpool::Ref> pieces_;

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
