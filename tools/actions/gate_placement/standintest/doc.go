// Package standintest reads compute plans and device lists on Linux from end to end: coremlprobe, compiled over the stand-in for the
// framework, the reader of its reports, the judgement. The stand-in's plans are made up and marked as its own; none can pass. That
// Apple's framework behaves as the stand-in does, nothing here can show.
package standintest
