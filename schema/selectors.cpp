#include "schema/selectors.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace inquest {
namespace {

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9], at most 63.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

// Parts of lower-case letters, digits and inner dashes, with a dot between them.
bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  char before = '.';
  for (const char c : text) {
    if (!is_lower_or_digit(c) && c != '-' && c != '.') return false;
    if (before == '.' && !is_lower_or_digit(c)) return false;
    if (before == '-' && c == '.') return false;
    before = c;
  }
  return is_lower_or_digit(before);
}

// strconv.ParseInt(text, 10, 64)
std::optional<int64_t> integer(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const StringId* find(const Labels& labels, StringId key) {
  const auto at = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const Label& label, StringId wanted) { return label.key < wanted; });
  return at != labels.end() && at->key == key ? &at->value : nullptr;
}

class Matcher {
 public:
  Matcher(const Labels& labels, NodeId node, const Catalog& catalog)
      : labels_(labels), name_(catalog.node_name(node)), catalog_(catalog) {}

  bool selects(const Label& wanted) const {
    const StringId* value = find(labels_, wanted.key);
    return value != nullptr && *value == wanted.value;
  }

  // Validity is looked at last: it matters only where the answer would be yes.
  bool matches(const SelectorTerm& term) const {
    if (term.expressions.empty() && term.fields.empty()) return false;
    return std::all_of(term.expressions.begin(), term.expressions.end(),
                       [&](const Requirement& r) { return holds(r) && valid(r); }) &&
           std::all_of(term.fields.begin(), term.fields.end(), [&](const Requirement& r) { return names(r); });
  }

 private:
  bool holds(const Requirement& requirement) const {
    const StringId* value = find(labels_, requirement.key);
    const auto& values = requirement.values;
    const auto among = [&] { return std::find(values.begin(), values.end(), *value) != values.end(); };
    switch (requirement.op) {
      case SelectorOperator::kIn:
        return value != nullptr && among();
      case SelectorOperator::kNotIn:
        return !values.empty() && (value == nullptr || !among());
      case SelectorOperator::kExists:
        return values.empty() && value != nullptr;
      case SelectorOperator::kDoesNotExist:
        return values.empty() && value == nullptr;
      case SelectorOperator::kGt:
      case SelectorOperator::kLt:
        return value != nullptr && values.size() == 1 && compares(requirement.op, *value, values[0]);
      case SelectorOperator::kUnknown:
        return false;
    }
    return false;
  }

  bool compares(SelectorOperator op, StringId have, StringId bound) const {
    const std::optional<int64_t> a = integer(catalog_.text(have)), b = integer(catalog_.text(bound));
    return a && b && (op == SelectorOperator::kGt ? *a > *b : *a < *b);
  }

  bool valid(const Requirement& requirement) const {
    return is_label_key(catalog_.text(requirement.key)) &&
           std::all_of(requirement.values.begin(), requirement.values.end(),
                       [&](StringId value) { return is_label_value(catalog_.text(value)); });
  }

  bool names(const Requirement& field) const {
    if (field.values.size() != 1 || catalog_.text(field.key) != "metadata.name") return false;
    const bool same = catalog_.text(field.values[0]) == name_;
    return (field.op == SelectorOperator::kIn && same) || (field.op == SelectorOperator::kNotIn && !same);
  }

  const Labels& labels_;
  std::string_view name_;
  const Catalog& catalog_;
};

bool covers(TaintEffect tolerated, TaintEffect effect) {
  return tolerated == TaintEffect::kAny || (tolerated == effect && effect != TaintEffect::kUnknown);
}

}  // namespace

bool matches(const Placement& placement, const Labels& labels, NodeId node, const Catalog& catalog) {
  const Matcher matcher(labels, node, catalog);
  return std::all_of(placement.node_selector.begin(), placement.node_selector.end(),
                     [&](const Label& wanted) { return matcher.selects(wanted); }) &&
         (!placement.has_affinity || std::any_of(placement.terms.begin(), placement.terms.end(),
                                                 [&](const SelectorTerm& term) { return matcher.matches(term); }));
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!covers(toleration.effect, taint.effect)) return false;
  if (toleration.key != kEmptyText && toleration.key != taint.key) return false;
  return toleration.op == TolerationOperator::kExists ||
         (toleration.op == TolerationOperator::kEqual && toleration.value == taint.value);
}

const Taint* first_untolerated(std::span<const Toleration> tolerations, std::span<const Taint> taints) {
  for (const Taint& taint : taints) {
    if (taint.effect != TaintEffect::kNoSchedule && taint.effect != TaintEffect::kNoExecute) continue;
    const auto tolerating = [&](const Toleration& toleration) { return tolerates(toleration, taint); };
    if (std::none_of(tolerations.begin(), tolerations.end(), tolerating)) return &taint;
  }
  return nullptr;
}

bool tolerates_unschedulable(std::span<const Toleration> tolerations, const Catalog& catalog) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
    const bool named = catalog.text(toleration.key) == "node.kubernetes.io/unschedulable";
    const StringId key = named || toleration.key == kEmptyText ? toleration.key : StringId::none();
    return key && tolerates(toleration, {key, kEmptyText, TaintEffect::kNoSchedule});
  });
}

// [prefix/]name: the prefix a DNS subdomain.
bool is_label_key(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_name(text);
  return is_dns_subdomain(text.substr(0, slash)) && is_name(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) { return text.empty() || is_name(text); }

}  // namespace inquest
