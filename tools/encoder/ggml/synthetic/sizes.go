package synthetic

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sizes are the models that OpenAI published, as the headers of their ggml files have them.
var sizes = map[string]Options{
	"tiny":           {Layers: 4, TextLayers: 4, State: 384, Heads: 6, Mels: 80, Vocab: 51865},
	"base":           {Layers: 6, TextLayers: 6, State: 512, Heads: 8, Mels: 80, Vocab: 51865},
	"small":          {Layers: 12, TextLayers: 12, State: 768, Heads: 12, Mels: 80, Vocab: 51865},
	"medium":         {Layers: 24, TextLayers: 24, State: 1024, Heads: 16, Mels: 80, Vocab: 51865},
	"large-v3":       {Layers: 32, TextLayers: 32, State: 1280, Heads: 20, Mels: 128, Vocab: 51866},
	"large-v3-turbo": {Layers: 32, TextLayers: 4, State: 1280, Heads: 20, Mels: 128, Vocab: 51866},
}

// Size gives the options of a published model: its header, its shapes, its number of tokens.
func Size(name string) (Options, error) {
	o, ok := sizes[name]
	if !ok {
		return Options{}, fmt.Errorf("size %q: expected one of %s", name, strings.Join(slices.Sorted(maps.Keys(sizes)), ", "))
	}
	o.Seed, o.AudioCtx, o.TextCtx, o.Multilingual = 1, 1500, 448, true
	return o, nil
}
