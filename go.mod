module github.com/coreml-gate/rules_coreml_gate

go 1.25.0

require github.com/gowebpki/jcs v1.0.2

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/text v0.41.0
	google.golang.org/protobuf v1.36.12 // indirect
)
