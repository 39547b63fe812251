package processor

const arch = "arm64"
