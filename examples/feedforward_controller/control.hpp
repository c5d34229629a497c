// Copyright 2026 The rnea_ros authors
// SPDX-License-Identifier: Apache-2.0

// The control without ROS: the node's laws and its last stage, on the C code of `export`.
// No function allocates. Units: rad or m, N m or N, s; arrays in the order of ARM_JOINTS.

#ifndef CONTROL_HPP_
#define CONTROL_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "arm.h"

namespace feedforward_controller
{
constexpr const char * JOINTS[] = ARM_JOINTS;
constexpr std::size_t N = std::size(JOINTS);
using Joints = std::array<double, N>;

enum class Law { gravity, feedforward, computed_torque };

struct Reference
{
  Joints position{}, velocity{}, acceleration{}, effort{};
};

struct Settings
{
  Law law = Law::gravity;
  Joints kp{}, kd{}, effort_limits{}, effort_rate_limit{};
  double ramp_duration = 1.0;
  arm_environment payload{};
};

inline bool finite(const Joints & values)
{
  return std::all_of(values.begin(), values.end(), [](double value) {return std::isfinite(value);});
}

inline bool finite(const Reference & r)
{
  return finite(r.position) && finite(r.velocity) && finite(r.acceleration) && finite(r.effort);
}

class Control
{
public:
  /// Start from the effort that acts now.
  void start(const Settings & settings, const Joints & effort)
  {
    settings_ = settings;
    for (std::size_t i = 0; i < N; ++i) {
      command_[i] = std::clamp(effort[i], -settings.effort_limits[i], settings.effort_limits[i]);
    }
    follows_ = false;
    blend();
  }

  /// Change laws, gains or payload while active: the efforts blend.
  void change(const Settings & settings)
  {
    settings_ = settings;
    blend();
  }

  /// Return the next command. Without a finite reference the arm is weightless; a state that is
  /// not finite leaves the command as it is.
  const Joints & step(
    const Joints & q, const Joints & qd, const Reference & reference, double dt)
  {
    const bool follows = settings_.law != Law::gravity && finite(reference);
    if (follows != follows_) {
      blend();
    }
    follows_ = follows;
    const Joints effort = law(q, qd, follows ? &reference : nullptr);
    if (finite(effort)) {
      limit(effort, dt);
    }
    return command_;
  }

  /// Return the effort of the law, as the node's page `control` has it.
  Joints law(const Joints & q, const Joints & qd, const Reference * reference) const
  {
    Joints effort{}, drives{}, qdd{};
    if (reference == nullptr) {
      arm_gravity_torques(q.data(), &settings_.payload, effort.data());
    } else if (settings_.law == Law::feedforward) {
      qdd = reference->acceleration;
      arm_inverse_dynamics(
        reference->position.data(), reference->velocity.data(), qdd.data(), &settings_.payload,
        effort.data());
    } else {
      for (std::size_t i = 0; i < N; ++i) {
        qdd[i] = reference->acceleration[i] + feedback(q, qd, *reference, i);
      }
      arm_inverse_dynamics(q.data(), qd.data(), qdd.data(), &settings_.payload, effort.data());
    }
    arm_drive_torques(qd.data(), qdd.data(), effort.data(), drives.data());
    for (std::size_t i = 0; i < N; ++i) {
      effort[i] += drives[i];
      if (reference != nullptr) {
        effort[i] += reference->effort[i];
        if (settings_.law == Law::feedforward) {
          effort[i] += feedback(q, qd, *reference, i);
        }
      }
    }
    return effort;
  }

private:
  double feedback(
    const Joints & q, const Joints & qd, const Reference & reference, std::size_t i) const
  {
    return settings_.kp[i] * (reference.position[i] - q[i]) +
           settings_.kd[i] * (reference.velocity[i] - qd[i]);
  }

  void blend()
  {
    remaining_ = settings_.ramp_duration;
    offset_is_due_ = true;
  }

  /// The last stage: blend, effort limits, rate limits.
  void limit(const Joints & effort, double dt)
  {
    if (offset_is_due_) {
      for (std::size_t i = 0; i < N; ++i) {
        offset_[i] = command_[i] - effort[i];
      }
      offset_is_due_ = false;
    }
    remaining_ = std::max(remaining_ - dt, 0.0);
    const double share = remaining_ > 0.0 ? remaining_ / settings_.ramp_duration : 0.0;
    for (std::size_t i = 0; i < N; ++i) {
      const double most = settings_.effort_limits[i], change = settings_.effort_rate_limit[i] * dt;
      const double target = std::clamp(effort[i] + share * offset_[i], -most, most);
      command_[i] = std::clamp(target, command_[i] - change, command_[i] + change);
    }
  }

  Settings settings_;
  Joints command_{}, offset_{};
  double remaining_ = 0.0;
  bool offset_is_due_ = false, follows_ = false;
};
}  // namespace feedforward_controller

#endif  // CONTROL_HPP_
