package here

import (
	"bytes"
	"encoding/binary"
	"os"
)

// The loader's cache of glibc (sysdeps/generic/dl-cache.h): a header of 48 bytes, then entries of 24 bytes: flags, and the
// places of a name and of its file as offsets from the header's beginning. An older form may be before it.
const (
	cacheMagic  = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
	maxCache    = 64 << 20
)

// readCache lists the files of each name in the loader's cache, in its order; nothing where there is no cache.
func readCache(path string) map[string][]string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCache {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	at := bytes.Index(data, []byte(cacheMagic))
	if at < 0 || len(data)-at < cacheHeader {
		return nil
	}
	data = data[at:]
	text := func(at uint32) string {
		if uint64(at) >= uint64(len(data)) {
			return ""
		}
		raw, _, _ := bytes.Cut(data[at:], []byte{0})
		return string(raw)
	}
	out := map[string][]string{}
	for n, at := binary.LittleEndian.Uint32(data[len(cacheMagic):]), cacheHeader; n > 0 && at+cacheEntry <= len(data); n, at = n-1, at+cacheEntry {
		name, file := text(binary.LittleEndian.Uint32(data[at+4:])), text(binary.LittleEndian.Uint32(data[at+8:]))
		if name != "" && file != "" {
			out[name] = append(out[name], file)
		}
	}
	return out
}
