package modelrecord

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
)

// digester hashes strings through its own buffer; converting them would copy each to the
// heap.
type digester struct {
	hash hash.Hash
	buf  [512]byte
}

func newDigester() *digester { return &digester{hash: sha256.New()} }

// parts hashes strings including their boundaries.
func (d *digester) parts(texts ...string) {
	for _, t := range texts {
		d.size(len(t))
		d.text(t)
	}
}

// message hashes a message without the boundaries of its segments.
func (d *digester) message(head []byte, text []string) {
	d.hash.Write(head)
	d.size(model.Text(text).Len())
	for _, s := range text {
		d.text(s)
	}
}

// end hashes everything but the messages and returns the digest.
func (d *digester) end(req *model.Request, params []byte) journal.Digest {
	for i := range req.Tools {
		t := &req.Tools[i]
		d.parts(t.Name, t.Description)
		d.size(len(t.Input))
		d.hash.Write(t.Input)
	}
	if req.Schema != nil {
		d.parts(req.Schema.Name)
		d.size(len(req.Schema.Schema))
		d.hash.Write(req.Schema.Schema)
	}
	d.hash.Write(params)
	return journal.Digest(d.hash.Sum(d.buf[:0]))
}

func (d *digester) size(n int) {
	d.hash.Write(binary.LittleEndian.AppendUint64(d.buf[:0], uint64(n)))
}

func (d *digester) text(s string) {
	for len(s) > 0 {
		n := copy(d.buf[:], s)
		d.hash.Write(d.buf[:n])
		s = s[n:]
	}
}
