package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"sync"
)

const (
	textsRun = reservedRun + "texts" // the run id of the lines with shared texts
	maxTexts = 1 << 14               // maximum number of texts of a pool
	maxSeen  = 1 << 12               // texts remembered because they were used once
)

// sharedTexts stores once what the requests of many runs repeat: prompts, schemas, lists
// of tools. A text is shared from its second use on. In memory it takes a digest, a
// number and a place in the file.
type sharedTexts struct {
	mu    sync.Mutex // guards the fields below; taken before the pool's mu
	index textIndex
	ids   map[Digest]int // of the texts, from 1
	seen  []uint64       // digests of texts used once, each at the place that it determines
}

// compact appends to b the body with references to the texts of the pool; ok is false if
// there are none.
func (t *sharedTexts) compact(b, body []byte, p *Pool) (_ []byte, ok bool, err error) {
	return compact(b, body, func(text []byte) (int, error) { return t.number(text, p) })
}

// number returns the number of a text, 0 if it is not shared. A text that becomes shared
// is written to the pool.
func (t *sharedTexts) number(text []byte, p *Pool) (int, error) {
	d := DigestOf(text)
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.ids[d]; ok {
		return n, nil
	}
	if t.seen == nil {
		t.seen = make([]uint64, maxSeen)
	}
	h := binary.LittleEndian.Uint64(d[:])
	if was := &t.seen[h%maxSeen]; *was != h || len(t.ids) >= maxTexts {
		*was = h
		return 0, nil
	}
	l := newLines()
	defer l.release()
	var tail Chain
	l.b, tail = appendText(l.b, t.index.next(), text, t.index.tail)
	at, err := p.appendText(l.b)
	if err != nil {
		return 0, err
	}
	return t.add(d, span{at, len(l.b)}, tail), nil
}

// add adds a text of the file and returns its number.
func (t *sharedTexts) add(d Digest, line span, tail Chain) int {
	t.index.add(line, tail)
	if t.ids == nil {
		t.ids = map[Digest]int{}
	}
	t.ids[d] = len(t.index.lines)
	return len(t.index.lines)
}

// expand returns a body with its texts, which it reads from the file.
func (t *sharedTexts) expand(body []byte, file io.ReaderAt) ([]byte, error) {
	t.mu.Lock()
	x := t.index // later texts are not in the body
	t.mu.Unlock()
	return x.expand(body, file)
}

// textIndex says where the texts of a pool are in its file.
type textIndex struct {
	lines []textLine
	tail  Chain
}

// textLine is the line of a text, and the chain before it.
type textLine struct {
	span
	before Chain
}

// next returns the sequence number of the next text.
func (x *textIndex) next() uint64 { return uint64(len(x.lines)) + 1 }

func (x *textIndex) add(line span, tail Chain) {
	x.lines = append(x.lines, textLine{line, x.tail})
	x.tail = tail
}

func (x *textIndex) expand(body []byte, file io.ReaderAt) ([]byte, error) {
	return expand(body, func(n int) ([]byte, error) { return x.read(file, n) })
}

// check returns an error if a body refers to a text that is not in the index.
func (x *textIndex) check(body []byte) error {
	return eachReference(body, func(n int, _ slot) error {
		if !x.has(n) {
			return missingText(n)
		}
		return nil
	})
}

func (x *textIndex) has(n int) bool { return 0 < n && n <= len(x.lines) }

// read reads a text and verifies it again.
func (x *textIndex) read(file io.ReaderAt, n int) ([]byte, error) {
	if !x.has(n) {
		return nil, missingText(n)
	}
	l := &x.lines[n-1]
	b := make([]byte, l.size)
	if _, err := file.ReadAt(b, l.at); err != nil {
		return nil, fmt.Errorf("read text %d: %w", n, err)
	}
	_, line, ok := cutRun(bytes.TrimSuffix(b, []byte{'\n'}))
	if !ok {
		return nil, missingText(n)
	}
	text, _, err := parseText(line, uint64(n), l.before)
	if err != nil {
		return nil, fmt.Errorf("text %d (byte %d): %w", n, l.at, err)
	}
	return text, nil
}

func missingText(n int) error {
	return fmt.Errorf("%w: the line refers to text %d, which is missing or damaged", ErrCorrupt, n)
}

// appendText appends the line of a text.
func appendText(b []byte, seq uint64, text []byte, c Chain) ([]byte, Chain) {
	b = append(append(append(b, runMark...), textsRun...), '"')
	at := len(b)
	b = appendNumber(appendNumber(b, lineStart, sharedVersion), `,"seq":`, seq)
	b = append(append(b, `,"value":`...), text...)
	line, c := Seal(b[at:], c)
	line[0] = ',' // the run is before it
	return append(b[:at], line...), c
}

// parseText verifies the line of a text, like readRecord does.
func parseText(line []byte, want uint64, tail Chain) (text []byte, next Chain, err error) {
	var seq uint64
	next, ok := verify(line, tail)
	err = eachField(line, sharedVersion, func(key, v []byte) (err error) {
		switch string(key) {
		case "seq":
			seq, err = strconv.ParseUint(string(v), 10, 64)
		case "value":
			text = v
		}
		return err
	})
	if err == nil && len(text) == 0 {
		err = errForm
	}
	return text, next, judge(ok, err, want, seq)
}

// hasReferences reports whether the body of a pool's line refers to shared texts.
func hasReferences(line []byte) bool { return bytes.HasPrefix(line, []byte(lineStart+"2,")) }
