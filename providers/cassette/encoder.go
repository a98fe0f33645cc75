package cassette

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/secret"
)

// encoder converts the records of a run to the lines of its cassette. The zero value,
// with or without secrets, is ready for use.
type encoder struct {
	secrets         *secret.Values
	chain           journal.Chain
	read            journal.Segments // requests as recorded
	written         journal.Segments // requests as written to the cassette
	requests        []encodedRequest // requests that a rewind did not drop
	requestsChanged bool             // a request was changed, so later references may differ
	seed            maphash.Seed
	cleanTexts      map[uint64]bool // message texts without secrets, which conversations repeat
	found           []Finding
}

// encodedRequest is the body of a request before and after encoding.
type encodedRequest struct {
	seq           uint64
	before, after []byte
}

// lines appends the lines of records to b.
func (p *encoder) lines(b []byte, recs []journal.Record) ([]byte, error) {
	for i := range recs {
		r := recs[i]
		var err error
		if err = p.record(&r); err != nil {
			return nil, fmt.Errorf("record %d: %w", r.Seq, err)
		}
		if b, p.chain, err = journal.AppendLine(b, &r, p.chain); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// record redacts a record and adds findings for what still looks like a secret.
func (p *encoder) record(r *journal.Record) error {
	r.By = nil // a cassette is committed, so it names no account and no machine
	if err := r.EnsureBody(); err != nil {
		return fmt.Errorf("%s cannot be encoded as JSON: %w", r.Path, err)
	}
	if r.Voids != 0 {
		p.rewind(r.Voids)
	}
	if r.Kind == journal.Start {
		r.Body = dropOrigin(r.Body)
	}
	r.Path, _ = p.secrets.Text(r.Path)
	p.addFinding(r, "", secret.InRecord(r.Path, ""))
	if drift.IsRequest(r) {
		if err := p.request(r); err != nil {
			return err
		}
	} else {
		p.body(r)
		p.addFinding(r, "", secret.InJSON(r.Body))
	}
	if name := p.secrets.NameOf(string(r.Body)); name != "" {
		p.addFinding(r, name, secret.Sighting{})
	}
	return nil
}

// rewind drops the requests from seq on, and restores the references of those before.
func (p *encoder) rewind(seq uint64) {
	n := len(p.requests)
	for n > 0 && p.requests[n-1].seq >= seq {
		n--
	}
	p.requests, p.read, p.written = p.requests[:n], journal.Segments{}, journal.Segments{}
	for _, q := range p.requests {
		p.read.AddRecorded(q.before)
		p.written.AddRecorded(q.after)
	}
}

// body redacts anything but a model request. The digest of a tool call or question is the
// hash of its body.
func (p *encoder) body(r *journal.Record) {
	clean, found := p.secrets.JSON(r.Body)
	if !found {
		return
	}
	digest := journal.Digest{}
	if r.Digest != digest && journal.DigestOf(r.Body) == r.Digest {
		digest = journal.DigestOf(clean)
	}
	r.Body, r.Digest = clean, digest
}

// request redacts a model request, treating the segments of a text as one.
func (p *encoder) request(r *journal.Record) error {
	before := r.Body
	q, err := p.read.Decode(before)
	if err != nil {
		return err
	}
	clean, found := p.redacted(r, q)
	if p.requestsChanged = p.requestsChanged || found; !p.requestsChanged {
		p.written.AddRecorded(before)
	} else if r.Body, err = p.written.Encode(clean); err != nil {
		return err
	}
	if found {
		r.Digest = redigest(r.Digest, q, clean)
	}
	p.requests = append(p.requests, encodedRequest{r.Seq, before, r.Body})
	return nil
}

func (p *encoder) redacted(r *journal.Record, q journal.Request) (clean journal.Request, found bool) {
	clean.Messages = make([]journal.Message, len(q.Messages))
	for i, m := range q.Messages {
		var in bool
		clean.Messages[i], in = p.message(r, m)
		found = found || in
	}
	for _, f := range q.Fields {
		value, in := p.secrets.JSON(f.JSON)
		p.addFinding(r, "", secret.InJSON(value))
		clean.Fields = append(clean.Fields, journal.Field{Name: f.Name, JSON: json.RawMessage(value)})
		found = found || in
	}
	return clean, found
}

// message redacts a message. It caches messages without secrets, since each request of a
// conversation repeats them.
func (p *encoder) message(r *journal.Record, m journal.Message) (clean journal.Message, found bool) {
	key := p.key(m)
	if p.cleanTexts[key] {
		return m, false
	}
	head, inHead := p.secrets.JSON(m.Head)
	text, inText := p.secrets.Segments(m.Text)
	looks := [...]secret.Sighting{secret.InJSON(head), secret.InRecord(strings.Join(text, ""), "")}
	for _, s := range looks {
		p.addFinding(r, "", s)
	}
	found = inHead || inText
	p.cleanTexts[key] = !found && looks == [2]secret.Sighting{}
	return journal.Message{Head: head, Text: text}, found
}

// key returns a hash of head and text, independent of segments.
func (p *encoder) key(m journal.Message) uint64 {
	if p.cleanTexts == nil {
		p.seed, p.cleanTexts = maphash.MakeSeed(), map[uint64]bool{}
	}
	var h maphash.Hash
	h.SetSeed(p.seed)
	_, _ = h.Write(m.Head) // never fails
	_ = h.WriteByte(0)
	for _, s := range m.Text {
		_, _ = h.WriteString(s)
	}
	return h.Sum64()
}

// redigest returns the digest of a changed request, or zero (unknown) if the recorded
// digest cannot be derived from the journal.
func redigest(recorded journal.Digest, before, after journal.Request) journal.Digest {
	if d, err := modelrecord.Digest(before); err != nil || d != recorded {
		return journal.Digest{}
	}
	d, err := modelrecord.Digest(after)
	if err != nil {
		return journal.Digest{}
	}
	return d
}

// addFinding records a value that looks like a key, or a secret where it cannot be
// redacted.
func (p *encoder) addFinding(r *journal.Record, name string, s secret.Sighting) {
	if name == "" && s.Kind == "" {
		return
	}
	f := Finding{Line: r.Seq, Path: r.Path, Name: name, Looks: s.Kind}
	if secret.InRecord(r.Path, "").Kind != "" {
		f.Path = ""
	}
	if n := len(p.found); n == 0 || p.found[n-1] != f {
		p.found = append(p.found, f)
	}
}

// refused returns a *Refused if there are findings, or nil.
func (p *encoder) refused() error {
	if len(p.found) == 0 {
		return nil
	}
	return &Refused{p.found}
}

// dropOrigin removes the origin, the client and its request from a start record: the
// folders of a machine mean nothing elsewhere, and cassettes are not resumed.
func dropOrigin(body []byte) []byte {
	var start, input map[string]json.RawMessage
	if json.Unmarshal(body, &start) != nil || json.Unmarshal(start["input"], &input) != nil || input["origin"] == nil && input["by"] == nil && input["request"] == nil {
		return body
	}
	delete(input, "origin")
	delete(input, "by")
	delete(input, "authors")
	delete(input, "request")
	var err error
	if start["input"], err = jsonvalue.Marshal(input); err != nil {
		return body
	}
	out, err := jsonvalue.Marshal(start)
	if err != nil {
		return body
	}
	return out
}

// Finding is a position in a recording that would reveal a secret. It does not contain the secret.
type Finding struct {
	Line  uint64 // line in the journal and the cassette
	Path  string // effect path; "" if it would reveal the secret
	Looks string // kind of value: "a GitHub token"
	Name  string // or the name of a secret that cannot be redacted there
}

func (f Finding) String() string {
	where := fmt.Sprintf("line %d", f.Line)
	if f.Path != "" {
		where += " (" + f.Path + ")"
	}
	if f.Name != "" {
		return fmt.Sprintf("%s holds the value of %s where it cannot be replaced", where, f.Name)
	}
	return fmt.Sprintf("%s holds what looks like %s", where, f.Looks)
}

// Refused reports that no cassette was written because it would reveal secrets.
type Refused struct{ Findings []Finding }

// maxFindings is how many findings an error lists.
const maxFindings = 5

// Error lists the findings and how to fix them.
func (r *Refused) Error() string {
	var b strings.Builder
	b.WriteString("no cassette was written: ")
	for i, f := range r.Findings[:min(len(r.Findings), maxFindings)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.String())
	}
	if more := len(r.Findings) - maxFindings; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	b.WriteString("; put the value into an environment variable that the spec names, so that it is replaced, or keep it out of the run")
	return b.String()
}
