// LongReader: who wants to read what is longer than a line or a value may be, piece by piece.
#pragma once

#include <string_view>

namespace inquest::recorder {

class LongReader {
 public:
  virtual ~LongReader() = default;
  // Whether it is wanted, by its first bytes (which more() gives again).
  virtual bool begin(std::string_view prefix) = 0;
  virtual void more(std::string_view chunk) = 0;
  // It has ended, or the input has.
  virtual void end() = 0;
};

}  // namespace inquest::recorder
