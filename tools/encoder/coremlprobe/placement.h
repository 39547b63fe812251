// Where Core ML would run a model: its compute plan, operation by operation, and the devices that the machine has.
#pragma once

#import <Foundation/Foundation.h>

namespace coreml_probe {

// Lists the devices that Core ML reports (MLAllComputeDevices, macOS 14 and later). False if the report cannot be written.
bool reportDevices(NSString *reportPath);

// Asks for the compute plan of a compiled model (MLComputePlan, macOS 14.4 and later) with the bridge's configuration.
// False if the report cannot be written.
bool reportPlan(NSString *modelPath, NSString *reportPath);

}  // namespace coreml_probe
