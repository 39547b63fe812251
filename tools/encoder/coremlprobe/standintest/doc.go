// Package standintest runs coremlprobe on Linux, compiled with automatic reference counting as on a Mac, over the stand-in for the
// framework: it must report what the stand-in did, under the reason that package parity gives it. That Apple's framework
// behaves as the stand-in does, nothing here can show.
package standintest
