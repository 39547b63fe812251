package mel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxWAV bounds an audio file in bytes: over four hours of float32.
const maxWAV = 1 << 30

// ReadWAV reads audio that needs no conversion: RIFF/WAVE, 16 kHz, one channel,
// 16-bit or float32 samples. 16-bit samples are divided by 32768.
func ReadWAV(r io.Reader) ([]float32, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxWAV+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxWAV:
		return nil, fmt.Errorf("the file is larger than %d bytes", maxWAV)
	case len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE":
		return nil, errors.New("not a WAV file: convert it with `ffmpeg -i AUDIO -ar 16000 -ac 1 -c:a pcm_s16le OUT.wav`")
	}
	le := binary.LittleEndian
	format, bits := 0, 0
	for b = b[12:]; len(b) >= 8; {
		id, size := string(b[:4]), int(le.Uint32(b[4:]))
		b = b[8:]
		body := b[:min(size, len(b))]
		switch id {
		case "fmt ":
			if len(body) < 16 {
				return nil, errors.New("the format chunk is too short")
			}
			format, bits = int(le.Uint16(body)), int(le.Uint16(body[14:]))
			if format == 0xfffe && len(body) >= 26 {
				format = int(le.Uint16(body[24:]))
			}
			if channels, rate := le.Uint16(body[2:]), le.Uint32(body[4:]); channels != 1 || rate != Rate {
				return nil, fmt.Errorf("%d channel(s) at %d Hz: expected one at %d; convert with `ffmpeg -i AUDIO -ar 16000 -ac 1 OUT.wav`", channels, rate, Rate)
			}
		case "data":
			return samples(body, format, bits)
		}
		b = b[min(size+size%2, len(b)):]
	}
	return nil, errors.New("the file has no data chunk")
}

func samples(b []byte, format, bits int) ([]float32, error) {
	le := binary.LittleEndian
	switch {
	case format == 1 && bits == 16:
		out := make([]float32, len(b)/2)
		for i := range out {
			out[i] = float32(int16(le.Uint16(b[2*i:]))) / 32768
		}
		return out, nil
	case format == 3 && bits == 32:
		out := make([]float32, len(b)/4)
		for i := range out {
			out[i] = math.Float32frombits(le.Uint32(b[4*i:]))
		}
		return out, nil
	}
	return nil, fmt.Errorf("format %d with %d bits: expected 16-bit integers or 32-bit floats", format, bits)
}
