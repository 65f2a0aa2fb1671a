// OutputFile: a file that stands under its name only when it is whole; the same for imports, compacted and recovered
// traces (schema/output_file.h).
#pragma once

#include "schema/output_file.h"

namespace inquest::recorder {

using trace::OutputFile;

}  // namespace inquest::recorder
