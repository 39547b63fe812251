// The configuration with which the bridge loads a model, and what it is beside an untouched one.
#pragma once

#import <CoreML/CoreML.h>

#include <stddef.h>

namespace coreml_probe {

struct Units {
    const char *name;
    MLComputeUnits value;
};

// What the bridge asks for first, then less and less: what loads only further down is no load of the bridge's.
extern const Units kUnits[];
extern const size_t kUnitsCount;

// As the bridge makes it: whisper_coreml_init sets this one field.
MLModelConfiguration *bridgeConfiguration(MLComputeUnits units);

// The bridge's configuration, field by field, each beside that of an untouched one.
NSArray *configurationReport();

}  // namespace coreml_probe
