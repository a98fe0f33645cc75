package cassette

import (
	"crypto/sha256"
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

// press turns the records of one run into the lines of its cassette. The zero
// value, with or without secrets, stands before the first.
type press struct {
	secrets  *secret.Values
	chain    journal.Chain
	read     journal.Segments // requests as they were recorded
	written  journal.Segments // requests as they stand in the cassette
	requests []pressed        // that count so far
	altered  bool             // a request was changed: references may be others from there on
	seed     maphash.Seed
	clean    map[uint64]bool // texts of messages that hold nothing: conversations repeat theirs
	found    []Finding
}

// pressed is the body of a request, before and after.
type pressed struct {
	seq           uint64
	read, written []byte
}

// lines writes records behind b.
func (p *press) lines(b []byte, recs []journal.Record) ([]byte, error) {
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

// record takes secrets out of a record, and notes what looks like one in the rest.
func (p *press) record(r *journal.Record) error {
	r.By = nil // a cassette is committed: it names no account and no machine
	if err := r.EnsureBody(); err != nil {
		return fmt.Errorf("%s has no JSON form: %w", r.Path, err)
	}
	if r.Voids != 0 {
		p.rewind(r.Voids)
	}
	if r.Kind == journal.Start {
		r.Body = homeless(r.Body)
	}
	r.Path, _ = p.secrets.Text(r.Path)
	p.see(r, "", secret.InRecord(r.Path, ""))
	if drift.IsRequest(r) {
		if err := p.request(r); err != nil {
			return err
		}
	} else {
		p.body(r)
		p.see(r, "", secret.InJSON(r.Body))
	}
	if name := p.secrets.Named(string(r.Body)); name != "" {
		p.see(r, name, secret.Sighting{})
	}
	return nil
}

// rewind forgets the requests from seq on: later ones refer to what stands
// before them.
func (p *press) rewind(seq uint64) {
	n := len(p.requests)
	for n > 0 && p.requests[n-1].seq >= seq {
		n--
	}
	p.requests, p.read, p.written = p.requests[:n], journal.Segments{}, journal.Segments{}
	for _, q := range p.requests {
		p.read.AddRecorded(q.read)
		p.written.AddRecorded(q.written)
	}
}

// body replaces in anything but a model request. What a tool or a person is
// asked for has the hash of its body as digest.
func (p *press) body(r *journal.Record) {
	clean, found := p.secrets.JSON(r.Body)
	if !found {
		return
	}
	digest := [32]byte{}
	if r.Digest != digest && sha256.Sum256(r.Body) == r.Digest {
		digest = sha256.Sum256(clean)
	}
	r.Body, r.Digest = clean, digest
}

// request replaces in a model request, in its texts as the whole they make.
func (p *press) request(r *journal.Record) error {
	before := r.Body
	q, err := p.read.Decode(before)
	if err != nil {
		return err
	}
	clean, found := p.redacted(r, q)
	if p.altered = p.altered || found; !p.altered {
		p.written.AddRecorded(before)
	} else if r.Body, err = p.written.Encode(clean); err != nil {
		return err
	}
	if found {
		r.Digest = redigest(r.Digest, q, clean)
	}
	p.requests = append(p.requests, pressed{r.Seq, before, r.Body})
	return nil
}

func (p *press) redacted(r *journal.Record, q journal.Request) (clean journal.Request, found bool) {
	clean.Messages = make([]journal.Message, len(q.Messages))
	for i, m := range q.Messages {
		var in bool
		clean.Messages[i], in = p.message(r, m)
		found = found || in
	}
	for _, f := range q.Fields {
		value, in := p.secrets.JSON(f.JSON)
		p.see(r, "", secret.InJSON(value))
		clean.Fields = append(clean.Fields, journal.Field{Name: f.Name, JSON: json.RawMessage(value)})
		found = found || in
	}
	return clean, found
}

// message replaces in a message. Those that hold nothing are remembered: a
// conversation repeats all of them in each request.
func (p *press) message(r *journal.Record, m journal.Message) (clean journal.Message, found bool) {
	key := p.key(m)
	if p.clean[key] {
		return m, false
	}
	head, inHead := p.secrets.JSON(m.Head)
	text, inText := p.secrets.Segments(m.Text)
	looks := [...]secret.Sighting{secret.InJSON(head), secret.InRecord(strings.Join(text, ""), "")}
	for _, s := range looks {
		p.see(r, "", s)
	}
	found = inHead || inText
	p.clean[key] = !found && looks == [2]secret.Sighting{}
	return journal.Message{Head: head, Text: text}, found
}

// key is the same for messages of the same head and text, however it is cut.
func (p *press) key(m journal.Message) uint64 {
	if p.clean == nil {
		p.seed, p.clean = maphash.MakeSeed(), map[uint64]bool{}
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

// redigest is the digest of a request that was changed: unknown (zero) where
// the recorded one cannot be told from what the journal holds.
func redigest(recorded [32]byte, before, after journal.Request) [32]byte {
	if d, err := modelrecord.Digest(before); err != nil || d != recorded {
		return [32]byte{}
	}
	d, err := modelrecord.Digest(after)
	if err != nil {
		return [32]byte{}
	}
	return d
}

// see notes what looks like a key, or the name of a secret that stands where it
// cannot be replaced.
func (p *press) see(r *journal.Record, name string, s secret.Sighting) {
	if name == "" && s.Looks == "" {
		return
	}
	f := Finding{Line: r.Seq, Path: r.Path, Name: name, Looks: s.Looks}
	if secret.InRecord(r.Path, "").Looks != "" {
		f.Path = ""
	}
	if n := len(p.found); n == 0 || p.found[n-1] != f {
		p.found = append(p.found, f)
	}
}

// refused is a *Refused when something was found.
func (p *press) refused() error {
	if len(p.found) == 0 {
		return nil
	}
	return &Refused{p.found}
}

// homeless is a start record's body without where the run was at home: the
// folders of a machine mean nothing elsewhere, and nobody resumes a cassette.
func homeless(body []byte) []byte {
	var start, input map[string]json.RawMessage
	if json.Unmarshal(body, &start) != nil || json.Unmarshal(start["input"], &input) != nil || input["origin"] == nil {
		return body
	}
	delete(input, "origin")
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

// Finding is a place of a recording that would show a secret. It does not hold
// the secret.
type Finding struct {
	Line  uint64 // of the journal, and of the cassette
	Path  string // effect path; "" where it would show the secret itself
	Looks string // what stands there: "a GitHub token"
	Name  string // or the secret whose value stands where it cannot be replaced
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

// Refused says that no cassette was written, because it would have shown secrets.
type Refused struct{ Findings []Finding }

// shown is how many findings a message names.
const shown = 5

// Error names the places and the ways out.
func (r *Refused) Error() string {
	var b strings.Builder
	b.WriteString("no cassette was written: ")
	for i, f := range r.Findings[:min(len(r.Findings), shown)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.String())
	}
	if more := len(r.Findings) - shown; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	b.WriteString("; put the value into an environment variable that the spec names, so that it is replaced, or keep it out of the run")
	return b.String()
}
