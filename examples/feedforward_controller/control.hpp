// Copyright 2026 The rnea_ros authors
// SPDX-License-Identifier: Apache-2.0

// The control without ROS: the node's laws and its last stage, on the C code of `export`.
// No function allocates. Units: rad or m, N m or N, s; arrays in the order of ARM_JOINTS.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include "arm.h"

namespace feedforward_controller
{
constexpr const char * JOINTS[] = ARM_JOINTS;
constexpr std::size_t N = std::size(JOINTS);
constexpr bool CONTINUOUS[N] = ARM_CONTINUOUS;
constexpr double EFFORT_LIMITS[N] = ARM_EFFORT_LIMITS;  // of the URDF, 0: none
using Joints = std::array<double, N>;

enum class Law { gravity, feedforward, computed_torque };

struct State { Joints position, velocity; };
struct Reference { Joints position, velocity, acceleration, effort; };
struct Hardware { bool gravity, friction, payload; };  // what the robot adds to every command

struct Settings
{
  Law law = Law::gravity;
  Joints kp{}, kd{}, effort_limits{}, effort_rate_limit{};
  double ramp_duration = 1.0;
  bool compensate_coriolis = false;
  Hardware hardware{};
  arm_environment payload{};
};

inline bool finite(const Joints & values)
{
  return std::all_of(values.begin(), values.end(), [](double value) {return std::isfinite(value);});
}

inline Joints sum(Joints a, const Joints & b)
{
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
  return a;
}

class Control
{
public:
  /// Start from the effort that acts now.
  void start(const Settings & settings, const Joints & effort)
  {
    for (std::size_t i = 0; i < N; ++i) {
      command_[i] = std::clamp(effort[i], -settings.effort_limits[i], settings.effort_limits[i]);
    }
    follows_ = with_effort_ = false;
    change(settings);
  }

  /// Change law, gains or payload while active: the efforts blend.
  void change(const Settings & settings)
  {
    settings_ = settings;
    blend();
  }

  /// Compute the next command. The arm is weightless without a finite reference; efforts of the
  /// reference that are not finite are left out. Return false for a state that is not finite.
  bool step(const State & measured, const Reference & reference, double dt)
  {
    Joints effort = follow(measured, reference);
    const bool follows = settings_.law != Law::gravity && finite(effort);
    const bool with_effort = follows && finite(sum(effort, reference.effort));
    if (follows != follows_ || with_effort != with_effort_) {
      follows_ = follows;
      with_effort_ = with_effort;
      blend();
    }
    if (!follows) {
      effort = weightless(measured);
    }
    if (with_effort) {
      effort = sum(effort, reference.effort);
    }
    if (!finite(measured.position) || !finite(measured.velocity) || !finite(effort)) {
      return false;
    }
    limit(effort, dt);
    return true;
  }

  const Joints & command() const {return command_;}

private:
  Joints weightless(const State & measured) const
  {
    const auto & [q, qd] = measured;
    return arm(q, settings_.compensate_coriolis ? qd : Joints{}, Joints{}, measured);
  }

  /// Follow a motion: both laws as the node's page on control has them.
  Joints follow(const State & measured, const Reference & desired) const
  {
    const auto & [q, qd] = measured;
    const auto & [q_d, qd_d, qdd_d, effort_d] = desired;
    Joints feedback;
    for (std::size_t i = 0; i < N; ++i) {
      const double error = q_d[i] - q[i];
      const double nearest = CONTINUOUS[i] ? std::remainder(error, 2.0 * std::acos(-1.0)) : error;
      feedback[i] = settings_.kp[i] * nearest + settings_.kd[i] * (qd_d[i] - qd[i]);
    }
    return settings_.law == Law::computed_torque ?
           arm(q, qd, sum(qdd_d, feedback), measured) :
           sum(arm(q_d, qd_d, qdd_d, measured), feedback);
  }

  /// Return ID(q, qd, qdd) + rotors + friction - what the hardware adds at the measured state.
  Joints arm(
    const Joints & q, const Joints & qd, const Joints & qdd, const State & measured) const
  {
    const arm_environment none{};
    const Joints still{};
    Joints effort, drives, friction, loaded, unloaded;
    arm_inverse_dynamics(q.data(), qd.data(), qdd.data(), &settings_.payload, effort.data());
    arm_drive_torques(measured.velocity.data(), qdd.data(), effort.data(), drives.data());
    arm_drive_torques(measured.velocity.data(), still.data(), effort.data(), friction.data());
    arm_gravity_torques(measured.position.data(), &settings_.payload, loaded.data());
    arm_gravity_torques(measured.position.data(), &none, unloaded.data());
    const Hardware & adds = settings_.hardware;
    for (std::size_t i = 0; i < N; ++i) {
      effort[i] += drives[i] - adds.friction * friction[i] - adds.gravity * unloaded[i] -
        adds.payload * (loaded[i] - unloaded[i]);
    }
    return effort;
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
  bool offset_is_due_ = false, follows_ = false, with_effort_ = false;
};
}  // namespace feedforward_controller
