// TraceTotals: the counts of a trace's streams, summed as people ask for them. Private to report/.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "report/text.h"
#include "schema/reader.h"

namespace inquest::report {

inline std::string_view name_of(trace::TraceState state) {
  return state == trace::TraceState::kOpen ? "open" : state == trace::TraceState::kClosed ? "closed" : "recovered";
}
inline std::string_view name_of(trace::StreamKind kind) {
  return kind == trace::StreamKind::kWatch ? "watch" : kind == trace::StreamKind::kBindLog ? "bind log" : "audit log";
}

// "pods" → "pod": what one frame of the stream is about.
inline std::string singular(std::string_view resource) {
  if (resource.empty()) return "other";
  if (resource.ends_with('s')) resource.remove_suffix(1);
  return printable(resource);
}

struct FrameCount {
  std::string resource;  // as in the trace
  uint64_t added = 0, modified = 0, deleted = 0;
  uint64_t all() const { return added + modified + deleted; }
};

struct TraceTotals {
  explicit TraceTotals(const trace::TraceInfo& info) {
    for (const trace::StreamSummary& s : info.streams) {
      lists += s.lists;
      checkpoints += s.checkpoints;
      bookmarks += s.bookmarks;
      errors += s.errors;
      gaps += s.gaps;
      undecodable += s.undecodable;
      bind_requests += s.bind_requests;
      observations += s.observations;
      if (s.added + s.modified + s.deleted == 0) continue;
      auto at = std::find_if(frames.begin(), frames.end(),
                             [&](const FrameCount& frame) { return frame.resource == s.stream.resource; });
      if (at == frames.end()) at = frames.insert(at, FrameCount{s.stream.resource, 0, 0, 0});
      at->added += s.added;
      at->modified += s.modified;
      at->deleted += s.deleted;
    }
    std::stable_sort(frames.begin(), frames.end(), [](const FrameCount& a, const FrameCount& b) {
      const auto rank = [](const FrameCount& frame) {
        return frame.resource == "pods" ? 0 : frame.resource == "nodes" ? 1 : 2;
      };
      return rank(a) < rank(b);
    });
    for (const trace::TraceLoss& loss : info.losses) lost += loss.count;
  }

  std::vector<FrameCount> frames;  // by resource: pods, nodes, the others in order of streams
  uint64_t lists = 0, checkpoints = 0, bookmarks = 0, errors = 0, gaps = 0, undecodable = 0;
  uint64_t bind_requests = 0, observations = 0, lost = 0;
};

}  // namespace inquest::report
