package speech

import "strings"

// Where the packages keep their recordings.
const (
	sphinx   = "usr/share/pocketsphinx/test/data/"
	librivox = sphinx + "librivox/sense_and_sensibility_01_austen_64kb-"
	alsa     = "usr/share/sounds/alsa/"
)

// Speech at the rate of a package, and what is said of it.
const (
	speech    = "speech"
	speech48k = "speech at 48000 Hz"
)

// words that several recordings hold.
const (
	words0870 = "and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them"
	words0880 = "he was not an ill disposed young man"
	words0890 = "unless to be rather cold hearted and rather selfish is to be ill disposed"
	words0920 = "had he married a more amiable woman he might have been made still more respectable than he was"
	words0930 = "he might even have been made amiable himself"
)

// joinedWords are those of the long recording: the five sentences four times.
var joinedWords = strings.TrimSuffix(strings.Repeat(words0870+" "+words0880+" "+words0890+" "+words0920+" "+words0930+" ", 4), " ")

// recordings are made in this order; what is derived comes after what it is derived from.
var recordings = []Recording{
	{Name: "librivox-0870", File: "librivox-0870.wav", Language: "en", SHA256: "b0557cf95c974d930577e58e46b7f068c432a6e3afcc286563d88922b2a5315c", Human: words0870, Why: speech, source: librivox + "0870.wav"},
	{Name: "librivox-0880", File: "librivox-0880.wav", Language: "en", SHA256: "fbec491ef00ee734a67f0ee318e98c51c157b479e1629ff4f4426861ecac0414", Human: words0880, Why: speech, source: librivox + "0880.wav"},
	{Name: "librivox-0890", File: "librivox-0890.wav", Language: "en", SHA256: "5793ffbdee55fb8bfd284943a6866864c832d9d4accf2661cabd39915c84ee10", Human: words0890, Why: speech, source: librivox + "0890.wav"},
	{Name: "librivox-0920", File: "librivox-0920.wav", Language: "en", SHA256: "40882414ef4cc51f3ff7a63bad0c8c87e7f595ffeb8209fbf756c8ebc5c28a59", Human: words0920, Why: speech, source: librivox + "0920.wav"},
	{Name: "librivox-0930", File: "librivox-0930.wav", Language: "en", SHA256: "954adbf0b56ac8a148cbe77b39ca18d76b5f2a1e1f405565bd786ce3e68a68b7", Human: words0930, Why: speech, source: librivox + "0930.wav"},
	{Name: "cards-001", File: "cards-001.wav", Language: "en", SHA256: "899951e768666f27c8f8b1d4090b96fe7909cae9cec01bec0a5d5d1b8a8d566e", Human: "ten of clubs", Why: speech, source: sphinx + "cards/001.wav"},
	{Name: "cards-002", File: "cards-002.wav", Language: "en", SHA256: "a3f9eae6fdb69a1231989e39a14d62388a6f52fb59666c76d95005318fadafec", Human: "four queen of clubs", Why: speech, source: sphinx + "cards/002.wav"},
	{Name: "cards-003", File: "cards-003.wav", Language: "en", SHA256: "00d283e46bc257ae479e4aa86593cadb541656eba1d19fc8abeece37f6a5a18b", Human: "seven of clubs", Why: speech, source: sphinx + "cards/003.wav"},
	{Name: "cards-004", File: "cards-004.wav", Language: "en", SHA256: "4c44a8177f5b128b99f078cdeb918119933155574231f1833e8840d1af09c521", Human: "five five", Why: speech, source: sphinx + "cards/004.wav"},
	{Name: "cards-005", File: "cards-005.wav", Language: "en", SHA256: "090f18f5f76cf8b2b43cd9e6b07823f4685a4742d9a36cd98b174a6586c18cf9", Human: "eight of spades four of clubs seven of hearts", Why: speech, source: sphinx + "cards/005.wav"},
	{Name: "goforward", File: "goforward.wav", Language: "en", SHA256: "97ec638609b9c7eeb616764b4e5713d7ed2d0a8e1a2f8246631d9074d47aaf11", Human: "go forward ten meters", Why: speech, source: sphinx + "goforward.raw"},
	{Name: "something", File: "something.wav", Language: "en", SHA256: "85fc7f1a94db4d957a2d7a3c8f31ecf4ba78c067e50c5028098c4fc3a6f29bf0", Human: "go somewhere and do something", Why: speech, source: sphinx + "something.raw"},
	{Name: "numbers", File: "numbers.wav", Language: "en", SHA256: "353c67f7c7dc00b36fb341dd34929bf9291f4e92f0e00daf7e560be9c1c02562", Why: speech, source: sphinx + "numbers.raw"},
	{Name: "digits", File: "digits.wav", Language: "en", SHA256: "c1a7a52aeb32dcd7807e86fccb21db4131a5b7793618186b4a5f49fbee939b68", Human: "two nine three four zero", Why: speech, source: sphinx + "tidigits/dhd.2934z.raw"},
	{Name: "front-center", File: "front-center.wav", Language: "en", SHA256: "0d61518bcd3f13b0c709a5298e939caf698b80d31d71d50475365ee0e5536cc9", Human: "front center", Why: speech48k, source: alsa + "Front_Center.wav"},
	{Name: "front-left", File: "front-left.wav", Language: "en", SHA256: "9f97e8458785da2f0aa0ec60bf9cc81520cbf80a4683e83eca9cb5f2958e9fef", Human: "front left", Why: speech48k, source: alsa + "Front_Left.wav"},
	{Name: "front-right", File: "front-right.wav", Language: "en", SHA256: "1fdea4d7003f1f7d3e48d3521aaab0a112c4ac570b02ddf1813abacac3070f6f", Human: "front right", Why: speech48k, source: alsa + "Front_Right.wav"},
	{Name: "rear-center", File: "rear-center.wav", Language: "en", SHA256: "9343207e3298813fdc4d26b7948e15a38533c37a9f232c3eff809b565398b330", Human: "rear center", Why: speech48k, source: alsa + "Rear_Center.wav"},
	{Name: "rear-left", File: "rear-left.wav", Language: "en", SHA256: "1679e0557701864d55b742a0abd3fe5f50d95b1bfcb55ffad4b597dcc7e3c7b8", Human: "rear left", Why: speech48k, source: alsa + "Rear_Left.wav"},
	{Name: "rear-right", File: "rear-right.wav", Language: "en", SHA256: "12828d125f692faa75c7445d52125dcc2c36f82c4f7a3ef49b8ae6afd74ada9d", Human: "rear right", Why: speech48k, source: alsa + "Rear_Right.wav"},
	{Name: "side-left", File: "side-left.wav", Language: "en", SHA256: "03dc7c641d7825417d2a261831715e945e95d87343fb037db910e7ce4f87a2a1", Human: "side left", Why: speech48k, source: alsa + "Side_Left.wav"},
	{Name: "side-right", File: "side-right.wav", Language: "en", SHA256: "ecdd0329945f355960796a56f8126d5080ed93fdd2437c7eaddbbbd56137d7e9", Human: "side right", Why: speech48k, source: alsa + "Side_Right.wav"},
	{Name: "noise", File: "noise.wav", Language: "en", SHA256: "0d897df3862192ea078efc1dd8fdc4f51fae9e93d3ed4c15e049829b0386729e", Silence: true, Why: "noise without words", source: alsa + "Noise.wav"},
	{Name: "joined", File: "joined.wav", Language: "en", SHA256: "05c978e8aa2bcb2eb34ba10c9a4cf44364b8e337eead96add6b71da409258288", Human: joinedWords, Why: "109 s, several windows", derive: joined},
	{Name: "clipped", File: "clipped.wav", Language: "en", SHA256: "3b898edec4f27fe9e93149ef1a62a156f4013af4ae7e2804a9fdf86a02e22539", Human: words0870, Why: "clipping", derive: clipped},
	{Name: "stereo", File: "stereo.wav", Language: "en", SHA256: "3ae59cac961125f1a9e76a61b88890cf5f6bae586d6763204db2da405bf1696d", Human: words0920, Why: "two channels, one silent", derive: stereo},
	{Name: "rate-8000", File: "rate-8000.wav", Language: "en", SHA256: "45e2ae615e658656542bfa8fa22e9891da47598a7d545cdf12375198b0a7fd82", Human: words0890, Why: "8 kHz", derive: rate8000},
	{Name: "flac", File: "flac.flac", Language: "en", SHA256: "919bc4e363ed1db51638814fb1604175d285dc9221734b7caa00d5a5380f0391", Human: words0930, Why: "FLAC", derive: flac},
	{Name: "silence", File: "silence.wav", Language: "en", SHA256: "262d1f34f300560a4c82ba8127ddea9e1d72946f187fdbd3e8f70ee096077aec", Silence: true, Why: "digital silence", derive: silence},
	{Name: "unreadable", File: "unreadable.wav", Language: "en", SHA256: "ff73860344bb17f36a6da668c1884bd06ab768314497be6127dba93f0bf5246a", Why: "upstream exits 0 on it; a gate must not", derive: unreadable},
}

// books are the sentences that others are made of.
var books = []string{"librivox-0870", "librivox-0880", "librivox-0890", "librivox-0920", "librivox-0930"}

func joined(of map[string]*sound) ([]byte, error) {
	s := &sound{rate: rate}
	for range 4 {
		for _, name := range books {
			s.samples = append(append(s.samples, of[name].samples...), make([]int16, rate/2)...)
		}
	}
	return s.wav(1), nil
}

func clipped(of map[string]*sound) ([]byte, error)  { return of[books[0]].louder(6).wav(1), nil }
func stereo(of map[string]*sound) ([]byte, error)   { return of[books[3]].besideNothing().wav(2), nil }
func rate8000(of map[string]*sound) ([]byte, error) { return of[books[2]].decimate(2).wav(1), nil }
func flac(of map[string]*sound) ([]byte, error)     { return of[books[4]].flac() }

func silence(map[string]*sound) ([]byte, error) {
	return (&sound{rate: rate, samples: make([]int16, 5*rate)}).wav(1), nil
}

func unreadable(map[string]*sound) ([]byte, error) {
	return []byte(strings.Repeat("This is not a recording.\n", 40)), nil
}
