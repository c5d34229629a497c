// Copyright 2026 The rnea_ros authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "arm.h"
#include "controller_interface/controller_interface.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace gravity_controller
{
using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

/// Commands the efforts that hold an arm against gravity
class GravityController : public controller_interface::ControllerInterface
{
public:
  CallbackReturn on_init() override { return CallbackReturn::SUCCESS; }

  InterfaceConfiguration command_interface_configuration() const override
  {
    return interfaces("/effort");
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    return interfaces("/position");
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    std::fill(positions_.begin(), positions_.end(), std::numeric_limits<double>::quiet_NaN());
    return CallbackReturn::SUCCESS;
  }

  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      // A locked interface keeps its last position, or effort, for one cycle.
      positions_[i] = state_interfaces_[i].get_optional().value_or(positions_[i]);
      if (!std::isfinite(positions_[i])) {
        return return_type::ERROR;
      }
    }
    arm_gravity_torques(positions_.data(), efforts_.data());
    static_cast<void>(command());
    return return_type::OK;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override
  {
    std::fill(efforts_.begin(), efforts_.end(), 0.0);
    return command() ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
  }

private:
  InterfaceConfiguration interfaces(const std::string & suffix) const
  {
    InterfaceConfiguration result{interface_configuration_type::INDIVIDUAL, {}};
    for (const auto & joint : joints_) {
      result.names.push_back(joint + suffix);
    }
    return result;
  }

  bool command()
  {
    bool written = true;
    for (std::size_t i = 0; i < efforts_.size(); ++i) {
      written = command_interfaces_[i].set_value(efforts_[i]) && written;
    }
    return written;
  }

  const std::vector<std::string> joints_ = ARM_JOINTS;
  std::vector<double> positions_ = std::vector<double>(joints_.size());
  std::vector<double> efforts_ = std::vector<double>(joints_.size());
};
}  // namespace gravity_controller

PLUGINLIB_EXPORT_CLASS(
  gravity_controller::GravityController, controller_interface::ControllerInterface)
