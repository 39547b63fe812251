package logtext

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/upstream/whispercpp"
)

// texts are the members, in any capitals, in which loggers write a line: of Docker, journald, slog and others, structlog,
// Apple's log, and Google's cloud.
var texts = []string{"log", "message", "msg", "event", "eventMessage", "textPayload", "line", "text"}

// undressRecords reads logs of one record a line: JSON objects, as containers' runtimes, journald and loggers write them, or
// the members NAME=VALUE of logfmt.
func undressRecords(all []Line) ([]Line, bool, error) {
	if len(all) == 0 {
		return all, false, nil
	}
	read := logfmtText
	if strings.HasPrefix(all[0].Text, "{") {
		read = jsonText
	}
	out := make([]Line, 0, len(all))
	for _, line := range all {
		text, stream, isRecord := read(line.Text)
		switch {
		case !isRecord:
			return all, false, nil
		case text == nil:
			return nil, false, refuse("line %d is a JSON object without log, message or msg: extract the program's lines", line.Number)
		}
		line.Text, line.Stream = strings.TrimRight(*text, "\r\n"), streamOf(stream, line.Stream)
		if strings.TrimSpace(line.Text) == "" {
			continue
		}
		clean, refused := uncolour(line.Text)
		if refused != nil {
			return nil, false, refused
		}
		line.Text = clean
		out = append(out, line)
	}
	return out, true, nil
}

// jsonText is the program's line in an object, nil for an object without one, and the stream that it names.
func jsonText(record string) (text *string, stream string, ok bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(record), &object) != nil {
		return nil, "", false
	}
	member := func(name string) json.RawMessage {
		for key, value := range object {
			if strings.EqualFold(key, name) {
				return value
			}
		}
		return nil
	}
	if json.Unmarshal(member("stream"), &stream) != nil {
		stream = ""
	}
	for _, name := range texts {
		value := member(name)
		if json.Unmarshal(value, &text) == nil && text != nil {
			return text, stream, true
		}
		// journald writes a line with control characters, such as colours, as a list of its bytes.
		var list []uint8
		var numbers []int
		if json.Unmarshal(value, &numbers) == nil && numbers != nil {
			for _, n := range numbers {
				list = append(list, uint8(n))
			}
			line := strings.ToValidUTF8(string(list), "\uFFFD")
			return &line, stream, true
		}
	}
	return nil, "", true
}

// logfmt is a record of members NAME=VALUE, of which msg is in quotation marks.
var logfmt = regexp.MustCompile(`^(?:[\w.-]+=(?:"(?:[^"\\]|\\.)*"|[^" ]*) )*(?:msg|message)=("(?:[^"\\]|\\.)*"|[^" ]*)(?: [\w.-]+=(?:"(?:[^"\\]|\\.)*"|[^" ]*))*$`)

// logfmtText is the program's line in such a record.
func logfmtText(record string) (text *string, stream string, ok bool) {
	m := logfmt.FindStringSubmatch(record)
	if m == nil {
		return nil, "", false
	}
	line := m[1]
	if strings.HasPrefix(line, `"`) {
		var err error
		if line, err = strconv.Unquote(line); err != nil {
			return nil, "", false
		}
	}
	return &line, "", true
}

// refuseDocument refuses a JSON document that holds a log somewhere in it, and base64.
func refuseDocument(text string) error {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
	case strings.HasPrefix(text, "{") && strings.Contains(text, "\n") && json.Valid([]byte(text)):
		return refuse("one JSON object over many lines: extract the program's lines")
	case (text[0] == '"' || text[0] == '[') && json.Valid([]byte(text)):
		return refuse("a JSON string or array: extract the program's lines")
	case !strings.ContainsAny(text, " :") && decodes(text):
		return refuse("base64: decode it")
	}
	return nil
}

// decodes says that a text is base64 of a log.
func decodes(text string) bool {
	plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	return err == nil && whispercpp.Begin(string(plain)) >= 0
}
