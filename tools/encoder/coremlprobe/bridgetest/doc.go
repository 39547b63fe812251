// Package bridgetest holds coremlprobe against upstream's own bridge at the pin: the fields of the configuration that it
// sets, the call that loads, and how it wraps the mel. A pin whose bridge asks for something else turns it red.
package bridgetest
