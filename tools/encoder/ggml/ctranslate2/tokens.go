package ctranslate2

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// vocabularySize is the number of tokens that upstream's converter spells out,
// for English and multilingual models alike; the special ones above it are made
// up by the runtime.
const vocabularySize = 50257

const maxTokenizer = 64 << 20

// Tokens reads the vocabulary from a Hugging Face tokenizer.json, in order of
// id, as the bytes that each token stands for.
func Tokens(r io.Reader) ([][]byte, error) {
	var doc struct {
		Model struct {
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	b, err := io.ReadAll(io.LimitReader(r, maxTokenizer+1))
	if err != nil {
		return nil, fmt.Errorf("read tokenizer: %w", err)
	}
	if len(b) > maxTokenizer {
		return nil, errors.New("read tokenizer: larger than 64 MiB")
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("read tokenizer: %w", err)
	}
	unmap := unicodeToByte()
	out := make([][]byte, vocabularySize)
	for text, id := range doc.Model.Vocab {
		if id < 0 || id >= vocabularySize {
			continue // <|endoftext|> of multilingual models, which upstream leaves out
		}
		if out[id] != nil {
			return nil, fmt.Errorf("read tokenizer: id %d belongs to two tokens", id)
		}
		out[id] = []byte{}
		for _, c := range text {
			v, ok := unmap[c]
			if !ok {
				return nil, fmt.Errorf("read tokenizer: token %d (%q) holds %q, which stands for no byte", id, text, c)
			}
			out[id] = append(out[id], v)
		}
	}
	for id, t := range out {
		if t == nil {
			return nil, fmt.Errorf("read tokenizer: no token has id %d, expected %d of them", id, vocabularySize)
		}
	}
	return out, nil
}

// unicodeToByte undoes GPT-2's mapping of bytes to printable characters: the
// printable ones stand for themselves, the others for U+0100 onward in order.
func unicodeToByte() map[rune]byte {
	m := make(map[rune]byte, 256)
	next := rune(256)
	for b := range 256 {
		switch {
		case b >= '!' && b <= '~', b >= 0xa1 && b <= 0xac, b >= 0xae:
			m[rune(b)] = byte(b)
		default:
			m[next] = byte(b)
			next++
		}
	}
	return m
}
