package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/journal"
)

// Reseal reads a cassette that was edited by hand and writes it with new line numbers and a new hash chain. An error
// names the invalid line, and nothing is written. Edited results may cause drift in later requests, which the next run
// reports.
func Reseal(r io.Reader, w io.Writer) error {
	sealed, err := reseal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(sealed)
	return err
}

// ResealFile is Reseal in place. The file is replaced atomically.
func ResealFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reseal: %w", err)
	}
	defer f.Close()
	sealed, err := reseal(f)
	if err == nil {
		err = writeFile(path, sealed)
	}
	if err != nil {
		return fmt.Errorf("reseal %s: %w", path, err)
	}
	return nil
}

func reseal(r io.Reader) ([]byte, error) {
	b, err := readAll(r)
	if err != nil {
		return nil, err
	}
	var out []byte
	var chain journal.Chain
	for i, line := range bytes.Split(bytes.TrimRight(b, " \t\r\n"), []byte{'\n'}) {
		fields, err := stripSeal(line, i+1)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		fields, chain = journal.Seal(fields, chain)
		out = append(out, fields...)
	}
	c, err := journal.Decode(out)
	if err == nil {
		err = check(c.Records)
	}
	return out, err
}

// stripSeal returns a line without its chain and closing brace, in the compact form of a
// journal.
func stripSeal(line []byte, seq int) ([]byte, error) {
	if !utf8.Valid(line) {
		return nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	out := fmt.Appendf(nil, `{"v":1,"seq":%d`, seq)
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, err
		}
		if name != "seq" && name != "chain" && (name != "v" || string(value) != "1") {
			quoted, _ := jsonvalue.Marshal(name) // a string always encodes
			compact := bytes.NewBuffer(append(append(append(out, ','), quoted...), ':'))
			_ = json.Compact(compact, value) // valid JSON at this point
			out = compact.Bytes()
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected text after the object")
	}
	return out, nil
}
