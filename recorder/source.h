// What a kSource record holds; its text says which. Such records change nothing in a replay; but
// for parts of lists they have no objects.
#pragma once

#include <string_view>

#include "schema/record.h"

namespace inquest::recorder {

// The line that the record before came from, as it was: it is written in no form that we know.
inline constexpr std::string_view kSourceWhole = "whole line";
// The form of the line that the record before came from, without the text of its body; rv says where in it that stood,
// status how it was escaped (envelope.h).
inline constexpr std::string_view kSourceEnvelope = "envelope";
// More of the LIST before: it was too large for one record.
inline constexpr std::string_view kSourcePart = trace::kPart;
inline constexpr size_t kObjectsOfAPart = 8192;  // where no body says how many
// A frame of a streaming list (sendInitialEvents); what they add up to is the LIST record behind them.
inline constexpr std::string_view kSourceStreamed = "streamed";

// Besides, trace::kLine, and trace::kOrigin: the start of the trace that this one was cut out of.

// The note of a source whose values came without times, and so without an envelope.
inline constexpr const char* kNoteMadeUp = "times made up from what the objects say, since the input has none";

}  // namespace inquest::recorder
