// Loading, predicting and unloading again and again: what a program that lives long does with a model.
#pragma once

#import <Foundation/Foundation.h>

namespace coreml_probe {

// Does what a request of schema 1 for repetitions asks for and writes the report, which names no path and no feature. False if the
// request cannot be used or the report cannot be written.
bool repeat(NSDictionary *request, NSString *reportPath);

}  // namespace coreml_probe
