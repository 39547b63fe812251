module github.com/coreml-gate/rules_coreml_gate

go 1.25.0

require (
	github.com/gowebpki/jcs v1.0.2 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	golang.org/x/text v0.38.0 // indirect
)
