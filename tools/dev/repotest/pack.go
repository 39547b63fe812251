package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
)

// pack makes an archive of a source tree below a prefix. Links go first, as an archive that means harm has them.
func pack(source map[string][]byte, links []tar.Header, prefix string, asZip bool) ([]byte, error) {
	if asZip {
		return packZip(source, prefix)
	}
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	tw := tar.NewWriter(gz)
	for _, h := range links {
		if err := tw.WriteHeader(&h); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(source)) {
		if err := tw.WriteHeader(&tar.Header{Name: prefix + path, Mode: 0o644, Size: int64(len(source[path]))}); err != nil {
			return nil, err
		}
		if _, err := tw.Write(source[path]); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := gz.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func packZip(source map[string][]byte, prefix string) ([]byte, error) {
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for _, path := range slices.Sorted(maps.Keys(source)) {
		f, err := zw.Create(prefix + path)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(source[path]); err != nil {
			return nil, err
		}
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
