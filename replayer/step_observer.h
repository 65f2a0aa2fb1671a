// StepObserver: who wants to know of every step of a run's core: what it was told, what it wants done, what it touched.
#pragma once

#include <span>

#include "scheduler/effect.h"
#include "scheduler/input.h"

namespace inquest::replayer {

class World;

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // After the core's step and before anything comes of it. All is valid during the call only.
  virtual void stepped(const World& world, const scheduler::Input& input,
                       std::span<const scheduler::Effect> effects) = 0;
};

}  // namespace inquest::replayer
