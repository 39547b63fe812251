// What every report of coremlprobe has: schema, version, host and framework, and how values and errors are written down.
#pragma once

#import <Foundation/Foundation.h>

namespace coreml_probe {

// Plain messages, where the older runtimes that the check uses know no subscripts.
inline id get(NSDictionary *from, NSString *key) { return [from objectForKey:key]; }
inline id at(NSArray *from, NSUInteger i) { return [from objectAtIndex:i]; }
inline NSNumber *flag(bool value) { return [NSNumber numberWithBool:value]; }
inline id orNull(id value) { return value != nil ? value : [NSNull null]; }

// An NSError as a report holds it, with what lies under it; null for nil.
id described(NSError *error);

// An error of the probe's own, in the same form.
NSDictionary *ownError(NSString *description);

// Why Core ML is not to be asked about a path at all, or nil: its readers may abort the process on what is no compiled model.
NSString *unfit(NSString *path);

// A report, written anew before every call into Core ML, so that a crash in there leaves "pending" where it happened.
class Report {
  public:
    explicit Report(NSString *path);

    void set(NSString *key, id value) { [values_ setObject:value forKey:key]; }

    // Writes a stand-in wherever the text is part of a string that is set. Core ML's errors name paths, which are nobody's business
    // who reads the report. Other paths and what follows file: are written as <path> in any case.
    void hide(NSString *text, NSString *as);

    // False, with a line on stderr, if the file cannot be written.
    bool write();

  private:
    NSString *path_;
    NSMutableDictionary *values_;
    NSMutableArray *hidden_;  // pairs
};

// The bytes of memory that the process takes now: its footprint on macOS, its resident set elsewhere. 0 where it is not known.
unsigned long long residentBytes();

// The framework that was asked: its bundle's identifier, or "stand-in" where the probe was compiled over the stand-in.
NSString *frameworkName();

}  // namespace coreml_probe
