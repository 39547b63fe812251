package whispercpp

import (
	"path"
	"strings"
)

// The path at which the runtime looks for a model's Core ML encoder is that of
// whisper_get_coreml_path_encoder in upstream's src/whisper.cpp, byte for byte.
//
// The function knows nothing of directories, extensions or quantisation; it
// cuts strings:
//
//  1. everything from the last '.' of the whole argument on is dropped, also
//     if that dot stands in the name of a directory;
//  2. if what follows the last '-' (that one included) is five bytes long,
//     with 'q' as its second and '_' as its fourth, it is dropped, also if one
//     of the five is a directory separator;
//  3. "-encoder.mlmodelc" is appended.
//
// Package upstreamtest checks this against upstream's own function.

// EncoderSuffix is what every derived path ends with.
const EncoderSuffix = "-encoder.mlmodelc"

// EncoderPath is the path at which a Core ML build of the runtime opens the
// encoder of the model that was given as -m.
func EncoderPath(model string) string {
	if dot := strings.LastIndexByte(model, '.'); dot >= 0 {
		model = model[:dot]
	}
	if dash := strings.LastIndexByte(model, '-'); dash >= 0 {
		if s := model[dash:]; len(s) == 5 && s[1] == 'q' && s[3] == '_' {
			model = model[:dash]
		}
	}
	return model + EncoderSuffix
}

// EncoderPackage is the name that an .mlpackage must have, so that coremlc, which
// names its output after its input, makes the encoder of this model.
func EncoderPackage(model string) string {
	return strings.TrimSuffix(path.Base(EncoderPath(model)), ".mlmodelc") + ".mlpackage"
}

// EncoderPathSurprise says, for people, what is unexpected about a model's derived path,
// or "" where it is the plain case: a dot or a quantisation suffix that was
// found in the name of a directory, or a name without an extension.
func EncoderPathSurprise(model string) string {
	name := model[strings.LastIndexByte(model, '/')+1:]
	switch {
	case !strings.Contains(name, ".") && strings.Contains(model, "."):
		return "the model's name has no extension, so the path is cut at a dot in the name of a directory: give the model the extension .bin"
	case !strings.Contains(name, "."):
		return "the model's name has no extension: give it the extension .bin"
	case path.Ext(name) != ".bin":
		return "the model's name does not end in .bin: what follows its last dot is cut off"
	case path.Dir(EncoderPath(model)) != path.Dir(model):
		return "the suffix that is cut off as a quantisation begins in the name of a directory: rename that directory"
	}
	return ""
}
