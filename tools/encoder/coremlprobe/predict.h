// Predicting as the bridge does: the same load, the same call, inputs where they lie.
#pragma once

#import <Foundation/Foundation.h>

namespace coreml_probe {

// Does what a request of schema 1 asks for and writes the report. False if the request cannot be used or the report cannot be written.
bool predict(NSDictionary *request, NSString *reportPath);

}  // namespace coreml_probe
