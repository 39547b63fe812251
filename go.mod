module github.com/coreml-gate/rules_coreml_gate

go 1.25.0
