// Copyright 2026 The rnea_ros authors
// SPDX-License-Identifier: Apache-2.0

// The check of numbers in feedforward_controller_parameters.yaml.

#pragma once

#include <string>
#include <vector>

#include "control.hpp"
#include "rclcpp/parameter.hpp"
#include "tl/expected.hpp"

namespace feedforward_controller
{
/// Accept `size` values (0: one, or one per joint) from `least` to `most`; reject NaN.
inline tl::expected<void, std::string> numbers(
  const rclcpp::Parameter & parameter, std::size_t size, double least, double most)
{
  const bool single = parameter.get_type() == rclcpp::ParameterType::PARAMETER_DOUBLE;
  const auto values =
    single ? std::vector<double>{parameter.as_double()} : parameter.as_double_array();
  if (size ? values.size() != size : values.size() != 1 && values.size() != N) {
    return tl::make_unexpected(
      parameter.get_name() + ": " + std::to_string(values.size()) + " values, not " +
      (size ? std::to_string(size) : "1 or " + std::to_string(N)));
  }
  for (const double value : values) {
    if (!(least <= value && value <= most)) {
      return tl::make_unexpected(
        parameter.get_name() + ": " + std::to_string(value) + " is not in [" +
        std::to_string(least) + ", " + std::to_string(most) + "]");
    }
  }
  return {};
}
}  // namespace feedforward_controller
