module github.com/coreml-gate/rules_coreml_gate

go 1.25.0

require github.com/gowebpki/jcs v1.0.2
