module github.com/coreml-gate/rules_coreml_gate

go 1.25.0

require (
	github.com/gowebpki/jcs v1.0.2
	github.com/spf13/cobra v1.10.2
)

require github.com/stretchr/testify v1.12.1

require (
	github.com/bluekeyes/go-gitdiff v0.9.0
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/jsonschema-go v0.4.3
	github.com/secure-systems-lab/go-securesystemslib v0.11.1
	github.com/sigstore/protobuf-specs v0.5.2
	golang.org/x/text v0.41.0
	google.golang.org/protobuf v1.36.12
)

require (
	golang.org/x/crypto v0.55.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	google.golang.org/genproto v0.0.0-20230706204954-ccb25ca9f130 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20230726155614-23370e0ffb3e // indirect
)
