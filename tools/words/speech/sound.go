package speech

import (
	"bytes"
	"crypto/md5" //nolint:gosec // FLAC asks for it
	"encoding/binary"
	"fmt"
	"math"
)

// rate of what Whisper hears, and of raw sources.
const rate = 16000

// sound is 16-bit speech; where a file has more channels than one, their samples take turns.
type sound struct {
	samples []int16
	rate    int
}

// maxSource bounds a source file: the longest pinned one has a tenth of it.
const maxSource = 8 << 20

// readSound reads 16-bit mono PCM: little-endian samples at 16 kHz, or RIFF WAVE.
func readSound(data []byte, raw bool) (*sound, error) {
	if len(data) > maxSource {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(data), maxSource)
	}
	s := &sound{rate: rate}
	if !raw {
		if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
			return nil, fmt.Errorf("expected RIFF WAVE")
		}
		var format []byte
		var err error
		if format, data, err = chunks(data[12:]); err != nil {
			return nil, err
		}
		kind, channels, bits := binary.LittleEndian.Uint16(format), binary.LittleEndian.Uint16(format[2:]), binary.LittleEndian.Uint16(format[14:])
		if kind != 1 || channels != 1 || bits != 16 {
			return nil, fmt.Errorf("format %d with %d channels of %d bits, expected PCM, mono, 16 bits", kind, channels, bits)
		}
		s.rate = int(binary.LittleEndian.Uint32(format[4:]))
	}
	s.samples = make([]int16, len(data)/2)
	for i := range s.samples {
		s.samples[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return s, nil
}

// chunks finds format and samples in what follows a WAVE header.
func chunks(rest []byte) (format, samples []byte, err error) {
	for len(rest) >= 8 {
		name, size := string(rest[:4]), binary.LittleEndian.Uint32(rest[4:])
		rest = rest[8:]
		if uint64(size) > uint64(len(rest)) {
			return nil, nil, fmt.Errorf("chunk %q of %d bytes, where %d are left", name, size, len(rest))
		}
		body := rest[:size]
		rest = rest[min(uint64(size)+uint64(size)%2, uint64(len(rest))):]
		switch {
		case name == "fmt " && size >= 16:
			format = body
		case name == "data" && format != nil:
			return format, body, nil
		}
	}
	return nil, nil, fmt.Errorf("expected a format and then samples, found one or none")
}

// wav is the sound as RIFF WAVE with a header of 44 bytes.
func (s *sound) wav(channels int) []byte {
	var b bytes.Buffer
	size := 2 * len(s.samples)
	b.WriteString("RIFF")
	for _, v := range []any{
		uint32(36 + size), [8]byte([]byte("WAVEfmt ")), uint32(16), uint16(1), uint16(channels), uint32(s.rate), uint32(2 * s.rate * channels),
		uint16(2 * channels), uint16(16), [4]byte([]byte("data")), uint32(size), s.samples,
	} {
		_ = binary.Write(&b, binary.LittleEndian, v) // a bytes.Buffer takes everything
	}
	return b.Bytes()
}

func clip(v float64) int16 { return int16(max(math.MinInt16, min(math.MaxInt16, v))) }

// louder multiplies and clips.
func (s *sound) louder(by float64) *sound {
	out := &sound{rate: s.rate}
	for _, v := range s.samples {
		out.samples = append(out.samples, clip(float64(v)*by))
	}
	return out
}

// besideNothing gives two channels: the sound, and nothing.
func (s *sound) besideNothing() *sound {
	out := &sound{rate: s.rate}
	for _, v := range s.samples {
		out.samples = append(out.samples, v, 0)
	}
	return out
}

// decimate keeps every factor-th sample after a windowed-sinc low-pass filter. Products are rounded before they are
// added, so that machines which could do both in one step give the same samples.
func (s *sound) decimate(factor int) *sound {
	half := 16 * factor
	taps := make([]float64, 2*half+1)
	for i := range taps {
		k := float64(i - half)
		sinc := 1 / float64(factor)
		if k != 0 {
			sinc = math.Sin(math.Pi*k/float64(factor)) / (math.Pi * k)
		}
		taps[i] = sinc * (0.5 + float64(0.5*math.Cos(math.Pi*k/float64(half+1))))
	}
	out := &sound{rate: s.rate / factor}
	for at := 0; at < len(s.samples); at += factor {
		sum := 0.0
		for i, t := range taps {
			if j := at + i - half; j >= 0 && j < len(s.samples) {
				sum += float64(t * float64(s.samples[j]))
			}
		}
		out.samples = append(out.samples, clip(math.RoundToEven(sum)))
	}
	return out
}

// flac is 16-bit mono FLAC of verbatim subframes (RFC 9639): no compression, so that the bytes depend on no encoder.
// Whole blocks are kept, and the rest is cut off.
func (s *sound) flac() ([]byte, error) {
	const block, mostFrames = 4096, 128 // more frames have longer numbers
	frames := len(s.samples) / block
	if frames > mostFrames || s.rate != rate {
		return nil, fmt.Errorf("%d frames at %d Hz, expected at most %d at %d Hz", frames, s.rate, mostFrames, rate)
	}
	samples := s.samples[:frames*block]
	var pcm bytes.Buffer
	_ = binary.Write(&pcm, binary.LittleEndian, samples) // a bytes.Buffer takes everything
	sum := md5.Sum(pcm.Bytes())                          //nolint:gosec // as above
	var b bytes.Buffer
	b.WriteString("fLaC\x80\x00\x00\x22\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00")
	_ = binary.Write(&b, binary.BigEndian, uint64(rate)<<44|15<<36|uint64(len(samples)))
	b.Write(sum[:])
	for frame := range frames {
		header := []byte{0xFF, 0xF8, 0xC5, 0x08, byte(frame)} // 4096 samples, 16 kHz, mono, 16 bits
		body := bytes.NewBuffer(append(header, byte(crc(header, 8, 0x07)), 0x02))
		_ = binary.Write(body, binary.BigEndian, samples[frame*block:(frame+1)*block])
		b.Write(body.Bytes())
		_ = binary.Write(&b, binary.BigEndian, uint16(crc(body.Bytes(), 16, 0x8005)))
	}
	return b.Bytes(), nil
}

// crc is a cyclic redundancy check of so many bits, most significant bit first.
func crc(data []byte, bits int, polynomial uint32) uint32 {
	top, mask := uint32(1)<<(bits-1), uint32(1)<<bits-1
	var value uint32
	for _, b := range data {
		value ^= uint32(b) << (bits - 8)
		for range 8 {
			carry := value & top
			value = value << 1 & mask
			if carry != 0 {
				value ^= polynomial
			}
		}
	}
	return value
}
