// Copyright 2026 The rnea_ros authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "control.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "feedforward_controller/feedforward_controller_parameters.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "realtime_tools/realtime_buffer.hpp"

namespace feedforward_controller
{
using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using Names = std::vector<std::string>;

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
constexpr double RATE_LIMIT_TIME = 0.1;  // s, for the full effort
// The manager restarts this controller to change the chain: within this time its effort goes on.
constexpr std::chrono::milliseconds RESTART{100};
const Names STATES = {"position", "velocity"};
const Names REFERENCES = {"position", "velocity", "acceleration", "effort"};

static_assert(sizeof(arm_environment) == 10 * sizeof(double), "export one payload, nothing else");

/// Return one value per joint, from one for all or one each.
Joints per_joint(const std::vector<double> & values)
{
  Joints result;
  for (std::size_t i = 0; i < N; ++i) {
    result[i] = values[values.size() == 1 ? 0 : i];
  }
  return result;
}

const Joints UNKNOWN = per_joint({NaN});

/// Return names of interfaces: all joints with the first kind, then with the next.
Names interfaces(const Names & kinds)
{
  Names names;
  for (const auto & kind : kinds) {
    for (const std::string joint : JOINTS) {
      names.push_back(joint + "/" + kind);
    }
  }
  return names;
}

/// Commands the efforts of a law of rnea_ros, for the references of the controller before it
class FeedforwardController : public controller_interface::ChainableControllerInterface
{
public:
  CallbackReturn on_init() override
  {
    listener_ = std::make_shared<ParamListener>(get_node());
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override
  {
    const auto kind = listener_->get_params().command_interface;
    return {interface_configuration_type::INDIVIDUAL, interfaces({kind})};
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, interfaces(STATES)};
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    changed_ =
      get_node()->add_post_set_parameters_callback([this](const auto &) {take_settings();});
    scale_ = per_joint(listener_->get_params().command_scale);
    return take_settings() ? CallbackReturn::SUCCESS : CallbackReturn::FAILURE;
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    measured_ = {UNKNOWN, UNKNOWN};
    forget_reference();
    Joints effort = control_.command();
    if (Clock::now() - stopped_ > RESTART) {
      for (std::size_t i = 0; i < N; ++i) {
        const double command = command_interfaces_[i].get_optional().value_or(0.0);
        effort[i] = std::isfinite(command) ? command / scale_[i] : 0.0;
      }
    }
    const auto & [settings, change] = *settings_.readFromRT();
    control_.start(settings, effort);
    applied_ = change;
    return command(control_.command()) ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override
  {
    stopped_ = Clock::now();
    return command(Joints{}) ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
  }

protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() override
  {
    std::vector<hardware_interface::CommandInterface::SharedPtr> references;
    for (const auto & kind : REFERENCES) {
      for (const std::string joint : JOINTS) {
        references.push_back(std::make_shared<hardware_interface::CommandInterface>(
          get_node()->get_name() + ("/" + joint), kind));
      }
    }
    return references;
  }

  /// Without a controller before this one the arm is weightless.
  return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) override
  {
    forget_reference();
    return return_type::OK;
  }

  return_type update_and_write_commands(
    const rclcpp::Time &, const rclcpp::Duration & period) override
  {
    // Keep the last value for a cycle while another thread holds the lock.
    const auto read = [](const auto & interface, double & value) {
        value = interface.get_optional().value_or(value);
      };
    const auto & references = ordered_exported_reference_interfaces_;
    for (std::size_t i = 0; i < N; ++i) {
      read(state_interfaces_[i], measured_.position[i]);
      read(state_interfaces_[N + i], measured_.velocity[i]);
      read(*references[i], reference_.position[i]);
      read(*references[N + i], reference_.velocity[i]);
      read(*references[2 * N + i], reference_.acceleration[i]);
      read(*references[3 * N + i], reference_.effort[i]);
    }
    const auto & [settings, change] = *settings_.readFromRT();
    if (change != applied_) {
      control_.change(settings);
      applied_ = change;
    }
    const double most = 1.0 / get_update_rate();
    if (!control_.step(measured_, reference_, std::clamp(period.seconds(), 0.0, most))) {
      return return_type::ERROR;
    }
    static_cast<void>(command(control_.command()));
    return return_type::OK;
  }

private:
  using Clock = std::chrono::steady_clock;

  /// Return the settings; throw std::invalid_argument for parameters of another robot.
  static Settings settings(const Params & params)
  {
    const auto is_set = [](const Names & names) {return !names.empty() && names != Names{""};};
    const Names & all = params.hardware_compensates;
    const auto adds = [&](const char * what) {
      return std::find(all.begin(), all.end(), what) != all.end();
    };
    if (!is_set(all) || (adds("none") && all.size() > 1)) {
      throw std::invalid_argument(
        "hardware_compensates: state what the robot adds to every command, or [none] alone");
    }
    if (params.gravity != std::vector<double>GRAVITY) {
      throw std::invalid_argument("gravity: not the gravity of the build, see -DGRAVITY");
    }
    if (is_set(params.joints) && params.joints != Names(std::begin(JOINTS), std::end(JOINTS))) {
      throw std::invalid_argument("joints: not the URDF's, in its order");
    }
    if (is_set(params.payload.link) && params.payload.link != Names{PAYLOAD_LINK}) {
      throw std::invalid_argument("payload.link: this controller was built for " PAYLOAD_LINK);
    }
    Settings result;
    result.law = params.mode == "gravity" ? Law::gravity :
      params.mode == "feedforward" ? Law::feedforward : Law::computed_torque;
    result.kp = per_joint(params.gains.kp);
    result.kd = per_joint(params.gains.kd);
    result.effort_limits = per_joint(params.effort_limits);
    result.effort_rate_limit = per_joint(params.effort_rate_limit);
    for (std::size_t i = 0; i < N; ++i) {
      double & limit = result.effort_limits[i], & rate = result.effort_rate_limit[i];
      limit = limit > 0.0 ? limit : EFFORT_LIMITS[i];
      rate = rate > 0.0 ? rate : limit / RATE_LIMIT_TIME;
      if (!(limit > 0.0) || per_joint(params.command_scale)[i] == 0.0) {
        throw std::invalid_argument(
          std::string(JOINTS[i]) + ": effort_limits and command_scale must not be 0");
      }
    }
    result.ramp_duration = params.ramp_duration;
    result.compensate_coriolis = params.compensate_coriolis;
    result.hardware = {adds("gravity"), adds("friction"), adds("payload")};
    auto * payload = reinterpret_cast<double *>(&result.payload);
    *payload++ = params.payload.mass[0];
    payload = std::copy(params.payload.com.begin(), params.payload.com.end(), payload);
    std::copy(params.payload.inertia.begin(), params.payload.inertia.end(), payload);
    return result;
  }

  /// Pass the parameters to the control loop; log wrong ones and change nothing.
  bool take_settings()
  {
    try {
      settings_.writeFromNonRT({settings(listener_->get_params()), ++changes_});
      return true;
    } catch (const std::invalid_argument & error) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return false;
    }
  }

  void forget_reference()
  {
    reference_ = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    for (auto & reference : ordered_exported_reference_interfaces_) {
      static_cast<void>(reference->set_value(NaN));
    }
  }

  bool command(const Joints & effort)
  {
    bool written = true;
    for (std::size_t i = 0; i < N; ++i) {
      written = command_interfaces_[i].set_value(effort[i] * scale_[i]) && written;
    }
    return written;
  }

  std::shared_ptr<ParamListener> listener_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr changed_;
  realtime_tools::RealtimeBuffer<std::pair<Settings, unsigned>> settings_;  // and number of change
  unsigned changes_ = 0, applied_ = 0;
  Control control_;
  Clock::time_point stopped_{};
  State measured_{};
  Reference reference_{};
  Joints scale_{};
};
}  // namespace feedforward_controller

PLUGINLIB_EXPORT_CLASS(
  feedforward_controller::FeedforwardController,
  controller_interface::ChainableControllerInterface)
