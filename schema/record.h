// Record: one row of a trace, and the stream it belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schema/facts.h"

namespace inquest::trace {

// Position in the trace: 1, 2, 3, … given once, when the record is written. Shown as @43.
using Seq = uint64_t;
using StreamId = StrongId<struct StreamTag>;

enum class StreamKind : uint8_t {
  kWatch,    // list and watch of one resource by the recorder
  kBindLog,  // a scheduler's own log of its binds
  kAudit,    // an API server's audit log
};

struct Stream {
  StreamId id;
  StreamKind kind = StreamKind::kWatch;
  std::string name;      // "pods", "race.binds"
  std::string resource;  // "pods", "nodes", "events"; empty for bind logs
  std::string source;    // the file name (no folders) it was imported from
};

enum class RecordKind : uint8_t {
  kList,         // a LIST answer: rv, objects, perhaps with more in kSource records behind it (kPart)
  kFrame,        // ADDED, MODIFIED or DELETED: verb, rv, one object
  kBookmark,     // rv only
  kError,        // an ERROR frame: status code, reason, text
  kOpen,         // a watch was accepted: path, status, the rv it begins at (0: it names none)
  kClose,        // a watch ended: text says why
  kBindRequest,  // bind: who bound which pod to which node; wall is the time it was sent
  kBindAnswer,   // bind: the answer; wall is the time it came; bind.request says which request
  kGap,          // not seen: rv range (gap_from, rv], text says why
  kUndecodable,  // bytes that were no frame: body, text says why
  kSource,  // bytes of an input that no other record holds, for export; text says what they are (recorder/source.h)
};

// The text of a kSource record at the start of a trace that was cut out of another: its wall time is that one's start,
// which stays the origin of offsets and of whatever is anchored there.
inline constexpr const char* kOrigin = "origin";

// The text of a kSource record that holds more of the LIST before, which was too large for one record: the next of its
// objects, and the next bytes of its body. Such records follow at once; at most one kSource record of another text, the
// form of the line, stands between. With objects they have the time and the rv of the list. TraceReader::list() walks
// them.
inline constexpr const char* kPart = "part";
// The text of a kSource record that holds a line of an audit log or bind log. They stand at the end of the trace, in
// the file's own order: their binds are records of their own, where they belong in time.
inline constexpr const char* kLine = "line";

// A place where a bind was seen. Several observations of one bind are one bind (design: same uid, node, code and
// overlapping times).
struct BindObservation {
  StreamId stream;
  Time sent;      // by the client's clock in a bind log; when the server received it in an audit log
  Time answered;  // not known: no answer was seen
};

struct Bind {
  PodId pod;                                  // its uid may be empty: old clients send none
  NodeId node;                                // the target
  StringId scheduler;                         // who: see the recorder's naming rule
  StringId user, agent;                       // as the API server saw them; none in a bind log
  Seq request = 0;                            // of an answer: its request's seq
  uint16_t code = 0;                          // of an answer: HTTP status, 0 if a transport error came instead
  StringId reason, message;                   // of an answer: from its Status, or the transport error
  std::vector<BindObservation> observations;  // of a request; the first gives its wall time
};

struct Record {
  Seq seq = 0;
  StreamId stream;
  RecordKind kind = RecordKind::kFrame;
  Verb verb = Verb::kAdded;
  bool checkpoint = false;  // a LIST that opened no watch: a second truth, compared and never delivered
  uint16_t status = 0;      // HTTP status of a list or open, the code in an ERROR frame
  Time wall;
  Time monotonic;  // not known for imported files
  ResourceVersion rv = 0;
  ResourceVersion gap_from = 0;
  StringId path;  // of a list or open
  StringId text;  // why, for close, error, gap and undecodable
  std::vector<ObjectFacts> objects;
  uint64_t more_objects = 0;  // of a list: how many stand in the records behind it
  Bind bind;
};

}  // namespace inquest::trace
