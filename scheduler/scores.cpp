#include "scheduler/scores.h"

#include <algorithm>

namespace inquest::scheduler {
namespace {

constexpr int64_t kFull = 100;

// Of 0 to capacity.
int64_t used(const Share& share) {
  return static_cast<int64_t>(std::clamp<Int128>(share.requested, 0, share.capacity));
}

// part · 100 / whole, of 0 <= part <= whole.
int64_t percent(int64_t part, int64_t whole) {
  if (part <= INT64_MAX / kFull) return part * kFull / whole;
  return static_cast<int64_t>(Int128{part} * kFull / whole);
}

template <typename Score>
int64_t weighted_mean(std::span<const Share> shares, const Score& score) {
  int64_t sum = 0, weights = 0;
  for (const Share& share : shares) {
    if (share.capacity <= 0) continue;
    sum += score(share) * share.weight;
    weights += share.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

// The least root with root² >= square.
Int128 root_above(Int128 square) {
  Int128 root = 0;
  for (int bit = 62; bit >= 0; --bit) {
    const Int128 next = root + (Int128{1} << bit);
    if (next * next <= square) root = next;
  }
  return root * root == square ? root : root + 1;
}

// 100 − ⌈50 · |a/A − b/B|⌉: of two numbers the standard deviation is half their distance.
int64_t balance_of_two(const Share& one, const Share& other) {
  // Below 2^60, so that the products stay within 128 bits.
  const auto shift = [](const Share& share) { return share.capacity >> 60 != 0 ? 3 : 0; };
  const int64_t a = used(one) >> shift(one), b = used(other) >> shift(other);
  const int64_t of_a = one.capacity >> shift(one), of_b = other.capacity >> shift(other);
  constexpr int64_t kSmall = int64_t{1} << 57;  // 50 times this is an int64_t
  int64_t product = 0;
  if (!__builtin_mul_overflow(of_a, of_b, &product) && product < kSmall) {
    const int64_t distance = std::max(a * of_b - b * of_a, b * of_a - a * of_b);
    return kFull - (distance * 50 + product - 1) / product;
  }
  const Int128 whole = Int128{of_a} * of_b, difference = Int128{a} * of_b - Int128{b} * of_a;
  const Int128 distance = difference < 0 ? -difference : difference;
  return kFull - static_cast<int64_t>((distance * 50 + whole - 1) / whole);
}

// In fractions of 2^-32: n²·variance = n·Σf² − (Σf)².
int64_t balance_of_many(std::span<const Share> shares) {
  Int128 count = 0, sum = 0, squares = 0;
  for (const Share& share : shares) {
    if (share.capacity <= 0) continue;
    const Int128 fraction = (Int128{used(share)} << 32) / share.capacity;
    count += 1;
    sum += fraction;
    squares += fraction * fraction;
  }
  const Int128 deviations = root_above(count * squares - sum * sum), whole = count << 32;
  return kFull - static_cast<int64_t>((deviations * kFull + whole - 1) / whole);
}

}  // namespace

int64_t least_allocated(std::span<const Share> shares) {
  return weighted_mean(shares, [](const Share& share) {
    return share.requested > share.capacity ? 0 : percent(share.capacity - used(share), share.capacity);
  });
}

int64_t most_allocated(std::span<const Share> shares) {
  return weighted_mean(shares, [](const Share& share) { return percent(used(share), share.capacity); });
}

int64_t balanced_allocation(std::span<const Share> shares) {
  const auto counts = [](const Share& share) { return share.capacity > 0; };
  const auto count = std::count_if(shares.begin(), shares.end(), counts);
  if (count == 0) return 0;
  if (count == 1) return kFull;
  if (count > 2) return balance_of_many(shares);
  const auto one = std::find_if(shares.begin(), shares.end(), counts);
  return balance_of_two(*one, *std::find_if(one + 1, shares.end(), counts));
}

}  // namespace inquest::scheduler
