package envelope

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
)

// PayloadType is in-toto's media type.
const PayloadType = "application/vnd.in-toto+json"

// maxSignatures bounds the work that a hostile envelope can ask for.
const maxSignatures = 100

// document is the JSON form of an envelope.
type document struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid,omitempty"`
	Sig   string `json:"sig"`
}

// Signature is one signature of an envelope, decoded.
type Signature struct {
	KeyID string
	Sig   []byte
}

// Envelope is an envelope that was read but not yet verified.
type Envelope struct {
	PayloadType string
	Payload     []byte
	Signatures  []Signature
	// Hint is the hint at the key of the Sigstore bundle that the envelope came in, or nil.
	Hint *string
}

// Sign makes the canonical bytes of an envelope around an in-toto statement. The payload is what is
// signed, byte for byte.
func Sign(ctx context.Context, key *Key, payload []byte) ([]byte, error) {
	signer, err := dsse.NewEnvelopeSigner(key)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	signed, err := signer.SignPayload(ctx, PayloadType, payload)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	d := document{PayloadType: signed.PayloadType, Payload: signed.Payload, Signatures: []signature{}}
	for _, s := range signed.Signatures {
		d.Signatures = append(d.Signatures, signature{KeyID: s.KeyID, Sig: s.Sig})
	}
	return strictjson.Canonical(d)
}

// Parse reads an envelope or a Sigstore bundle. Nothing about it is believed yet.
func Parse(data []byte) (*Envelope, error) {
	d := document{}
	err := strictjson.Decode(data, &d)
	if err == nil {
		return decode(d)
	}
	kind := struct {
		MediaType     *string `json:"mediaType"`
		PredicateType *string `json:"predicateType"`
	}{}
	// A look at what it is instead, only to name it.
	_ = json.Unmarshal(data, &kind)
	switch {
	case kind.PredicateType != nil:
		return nil, reason.Errorf(reason.UnsignedEnvelope, "signed file", "an envelope with a signature", "a bare statement of predicate type %q", *kind.PredicateType)
	case kind.MediaType != nil:
		return parseBundle(data)
	}
	return nil, reason.Errorf(reason.EnvelopeMalformed, "signed file", "a DSSE envelope", "%v", err)
}

func decode(d document) (*Envelope, error) {
	if len(d.Signatures) == 0 {
		return nil, unsigned()
	}
	if len(d.Signatures) > maxSignatures {
		return nil, reason.Errorf(reason.EnvelopeMalformed, "signatures", fmt.Sprintf("at most %d", maxSignatures), "%d", len(d.Signatures))
	}
	e := &Envelope{PayloadType: d.PayloadType}
	alphabet := &alphabet{}
	var err error
	if e.Payload, err = alphabet.decode("payload", d.Payload); err != nil {
		return nil, err
	}
	for i, s := range d.Signatures {
		sig, err := alphabet.decode(fmt.Sprintf("signatures[%d].sig", i), s.Sig)
		if err != nil {
			return nil, err
		}
		e.Signatures = append(e.Signatures, Signature{KeyID: s.KeyID, Sig: sig})
	}
	return e, nil
}

func unsigned() error {
	return reason.Errorf(reason.UnsignedEnvelope, "signatures", "at least one", "none")
}

// alphabet decodes base64 in either alphabet, the same one for every text that it is given.
type alphabet struct{ standard, url bool }

func (a *alphabet) decode(where, text string) ([]byte, error) {
	a.standard = a.standard || strings.ContainsAny(text, "+/")
	a.url = a.url || strings.ContainsAny(text, "-_")
	malformed := func(found string) error {
		return reason.Errorf(reason.EnvelopeMalformed, where, "base64 in one alphabet, padded, without white space or stray bits", "%s", found)
	}
	if a.standard && a.url {
		return nil, malformed("both alphabets")
	}
	if strings.ContainsAny(text, "\r\n") {
		return nil, malformed("a line break")
	}
	encoding := base64.StdEncoding
	if a.url {
		encoding = base64.URLEncoding
	}
	out, err := encoding.Strict().DecodeString(text)
	if err != nil {
		return nil, malformed(err.Error())
	}
	return out, nil
}

// Open verifies e with the key and returns the payload. Signatures of other keys are counted in
// others; they were not checked.
func (e *Envelope) Open(ctx context.Context, key *Key) (payload []byte, others int, err error) {
	if len(e.Signatures) == 0 {
		return nil, 0, unsigned()
	}
	if e.PayloadType != PayloadType {
		return nil, 0, reason.Errorf(reason.PayloadType, "payloadType", PayloadType, "%q", e.PayloadType)
	}
	if e.Hint != nil && *e.Hint != key.ID() {
		return nil, 0, reason.Errorf(reason.KeyIDMismatch, "verificationMaterial.publicKey.hint", key.ID(), "%q", *e.Hint)
	}
	pae := dsse.PAE(e.PayloadType, e.Payload)
	good := 0
	for i, s := range e.Signatures {
		where := fmt.Sprintf("signatures[%d]", i)
		valid := key.Verify(ctx, pae, s.Sig) == nil
		switch {
		case valid && s.KeyID != "" && s.KeyID != key.ID():
			return nil, 0, reason.Errorf(reason.KeyIDMismatch, where+".keyid", key.ID(), "%q on a signature that this key made", s.KeyID)
		case valid:
			good++
		case s.KeyID == key.ID() || s.KeyID == "":
			return nil, 0, reason.Errorf(reason.SignatureInvalid, where, "a signature by key "+key.ID(), "one that does not verify")
		default:
			others++
		}
	}
	if good == 0 {
		return nil, 0, reason.Errorf(reason.KeyIDMismatch, "signatures", "a signature by key "+key.ID(), "only signatures that name other keys (%q)", e.Signatures[0].KeyID)
	}
	if good > 1 {
		return nil, 0, reason.Errorf(reason.EnvelopeMalformed, "signatures", "one signature by key "+key.ID(), "%d", good)
	}
	return e.Payload, others, nil
}
