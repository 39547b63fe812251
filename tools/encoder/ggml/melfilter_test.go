package ggml

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// The bank of 80 is the one that upstream's ggml-tiny.en.bin and ggml-base.bin
// carry: this is the digest of its float32 values, little-endian.
func TestMelBankIsUpstreams(t *testing.T) {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, MelBank(80)); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	const want = "85818f156f7e189453901a515e4726d270d307f976e161cf9403e8caab405498"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("digest %s, expected %s", got, want)
	}
}
