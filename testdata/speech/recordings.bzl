"""What tools/words/speech makes: file by name, and where nothing is spoken. A test there holds this list."""

visibility(["//gate", "//testdata/speech"])

RECORDINGS = {
    "cards-001": "cards-001.wav",
    "cards-002": "cards-002.wav",
    "cards-003": "cards-003.wav",
    "cards-004": "cards-004.wav",
    "cards-005": "cards-005.wav",
    "clipped": "clipped.wav",
    "digits": "digits.wav",
    "flac": "flac.flac",
    "front-center": "front-center.wav",
    "front-left": "front-left.wav",
    "front-right": "front-right.wav",
    "goforward": "goforward.wav",
    "joined": "joined.wav",
    "librivox-0870": "librivox-0870.wav",
    "librivox-0880": "librivox-0880.wav",
    "librivox-0890": "librivox-0890.wav",
    "librivox-0920": "librivox-0920.wav",
    "librivox-0930": "librivox-0930.wav",
    "noise": "noise.wav",
    "numbers": "numbers.wav",
    "rate-8000": "rate-8000.wav",
    "rear-center": "rear-center.wav",
    "rear-left": "rear-left.wav",
    "rear-right": "rear-right.wav",
    "side-left": "side-left.wav",
    "side-right": "side-right.wav",
    "silence": "silence.wav",
    "something": "something.wav",
    "stereo": "stereo.wav",
    "unreadable": "unreadable.wav",
}

SILENT = [
    "noise",
    "silence",
]

# Synthetic speech of this project's own sentences, by language.
SPOKEN = [
    "de",
    "es",
    "it",
    "pl",
    "pt",
    "ru",
]
