// Secret: text that must not be printed. It goes where it is needed by reveal(), which is easy to find; it has no
// operator<<, and no message is built from it.
#pragma once

#include <string>
#include <utility>

namespace inquest::kube {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  bool empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }
  bool operator==(const Secret&) const = default;

 private:
  std::string text_;
};

// Certificates or a key: a file's path, or the text itself, which goes first.
struct Pem {
  std::string file;
  Secret text;
  bool empty() const { return file.empty() && text.empty(); }
};

}  // namespace inquest::kube
