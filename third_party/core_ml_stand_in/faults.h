// What the environment tells the stand-in to do wrong: COREML_GATE_STAND_IN, words separated by blanks (core_ml.mm lists them).
#pragma once

#import <Foundation/Foundation.h>

#include <string>

namespace core_ml_stand_in {

// Whether the environment has the word.
bool asks(NSString *word);

// What follows the prefix in each word that has it.
NSArray *asked(NSString *prefix);

// The first word that means nothing here, or nil.
NSString *unknownWord();

// Writes one line on standard error, by one call, so that lines of several threads do not mix.
void logLine(const std::string &text);

// Writes an error where the caller has room for one: upstream's bridge passes nil.
void fail(NSError *__autoreleasing *error, NSInteger code, NSString *description, NSError *under);

// The text, or a remark in its place where it is no UTF-8.
NSString *string(const std::string &text);

}  // namespace core_ml_stand_in
