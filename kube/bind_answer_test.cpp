#include "kube/bind_answer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "kube/decode.h"

namespace inquest::kube {
namespace {

// Statuses as a real API server 1.36 sent them, one after another between "== title" and "HTTP code".
std::vector<std::string> captured_answers() {
  std::ifstream file("kube/testdata/bind_answers.txt");
  std::vector<std::string> answers;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      answers.emplace_back();
    } else if (!line.starts_with("HTTP ")) {
      answers.back() += line + "\n";
    }
  }
  return answers;
}

TEST(BindAnswer, OfARealServer) {
  const struct {
    BindAnswer answer;
    const char* node;
  } kExpected[] = {
      {BindAnswer::kUidMismatch, ""},           {BindAnswer::kBound, ""},
      {BindAnswer::kAlreadyAssigned, "pair-1"}, {BindAnswer::kAlreadyAssigned, "pair-1"},
      {BindAnswer::kVersionMismatch, ""},       {BindAnswer::kServerError, ""},
      {BindAnswer::kBeingDeleted, ""},
  };
  const std::vector<std::string> answers = captured_answers();
  ASSERT_EQ(answers.size(), std::size(kExpected));
  Catalog catalog;
  Decoder decoder(catalog);
  for (size_t i = 0; i < answers.size(); ++i) {
    const Result<DecodedStatus> status = decoder.status(answers[i]);
    ASSERT_TRUE(status.ok()) << answers[i] << status.error().message();
    EXPECT_EQ(name_of(classify_bind_answer(status->code, status->reason, status->message)),
              name_of(kExpected[i].answer))
        << answers[i];
    EXPECT_EQ(assigned_node(status->message), kExpected[i].node) << answers[i];
  }
}

TEST(BindAnswer, ByCodeReasonAndMessage) {
  const struct {
    int code;
    const char* reason;
    const char* message;
    BindAnswer answer;
  } kCases[] = {
      {201, "", "", BindAnswer::kBound},
      {200, "", "", BindAnswer::kBound},
      {404, "NotFound", "pods \"pod1\" not found", BindAnswer::kNotFound},
      {0, "NotFound", "pods \"pod1\" not found", BindAnswer::kNotFound},
      {409, "Conflict", "pod pod1 has non-empty .spec.schedulingGates", BindAnswer::kGated},
      {0, "Conflict", "pod pod1 is already assigned to node \"n\"", BindAnswer::kAlreadyAssigned},
      {409, "Conflict", "the object has been modified", BindAnswer::kOtherConflict},
      {409, "AlreadyExists", "", BindAnswer::kOtherConflict},
      {400, "BadRequest", "name in URL does not match name in Binding object", BindAnswer::kRefused},
      {401, "Unauthorized", "Unauthorized", BindAnswer::kRefused},
      {403, "Forbidden", "", BindAnswer::kRefused},
      {422, "Invalid", "", BindAnswer::kRefused},
      {429, "TooManyRequests", "", BindAnswer::kRefused},
      {0, "Forbidden", "", BindAnswer::kRefused},
      {500, "InternalError", "", BindAnswer::kServerError},
      {503, "", "", BindAnswer::kServerError},
      {504, "Timeout", "pod is already assigned to node \"n\"", BindAnswer::kServerError},  // the code leads
      {302, "", "", BindAnswer::kServerError},
      {408, "", "", BindAnswer::kServerError},
      {499, "", "", BindAnswer::kServerError},
      {-1, "", "", BindAnswer::kServerError},
      {0, "Timeout", "", BindAnswer::kServerError},
      {0, "", "connection reset by peer", BindAnswer::kNoAnswer},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(name_of(classify_bind_answer(c.code, c.reason, c.message)), name_of(c.answer))
        << c.code << " " << c.reason << " " << c.message;
  }
}

TEST(BindAnswer, OnlyServerErrorsAndSilenceLeaveTheOutcomeOpen) {
  EXPECT_TRUE(outcome_unknown(BindAnswer::kServerError));
  EXPECT_TRUE(outcome_unknown(BindAnswer::kNoAnswer));
  EXPECT_FALSE(outcome_unknown(BindAnswer::kBound));
  EXPECT_FALSE(outcome_unknown(BindAnswer::kRefused));
  EXPECT_FALSE(outcome_unknown(BindAnswer::kAlreadyAssigned));
}

TEST(BindAnswer, AssignedNodeOfOddMessages) {
  EXPECT_EQ(assigned_node(""), "");
  EXPECT_EQ(assigned_node("is already assigned to node \""), "");
  EXPECT_EQ(assigned_node("is already assigned to node \"\""), "");
  EXPECT_EQ(assigned_node("pod x is already assigned to node \"n.example\" now"), "n.example");
}

}  // namespace
}  // namespace inquest::kube
