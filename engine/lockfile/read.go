package lockfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/engine/tool"
)

// maxFile is the maximum size of a lock file in bytes: a thousand tools of 16 KB each.
const maxFile = 16 << 20

// version of the file format.
const version = 1

// document is the format of the file.
type document struct {
	Version int      `json:"version"`
	Servers []server `json:"servers"`
}

// server is an entry in the file.
type server struct {
	Spec  string `json:"spec"`
	Entry string `json:"entry"`
	Origin
	Server string       `json:"server"`
	Tools  []pinnedTool `json:"tools"`
}

// pinnedTool is a definition in the file.
type pinnedTool struct {
	Name        string          `json:"name"`
	SHA256      string          `json:"sha256"`
	Title       string          `json:"title,omitempty"`
	Description multiline       `json:"description,omitempty"`
	Input       json.RawMessage `json:"input_schema,omitempty"`
	Output      json.RawMessage `json:"output_schema,omitempty"`
	Hints       tool.Hints      `json:"hints,omitzero"`
}

// Read reads the lock file of a project; nil = there is none. An error says what is wrong
// and how to fix it.
func Read(root string) (*Lock, error) {
	path := filepath.Join(root, FileName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	l, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w; restore the file from git, or remove it and run pexctl tools lock for its specs again", err)
	}
	return l, nil
}

// Parse parses a lock file. An empty file, which only marks the root of a project, pins
// nothing.
func Parse(b []byte) (*Lock, error) {
	if len(b) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return &Lock{}, nil
	}
	if _, err := canonical(b); err != nil {
		return nil, err
	}
	var doc document
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	if doc.Version != version {
		return nil, fmt.Errorf("version %d is not supported; this pexctl reads version %d", doc.Version, version)
	}
	l := &Lock{}
	for _, s := range doc.Servers {
		e, err := s.entry()
		if err != nil {
			return nil, fmt.Errorf("%s, tools.%s: %w", s.Spec, s.Entry, err)
		}
		l.Put(e)
	}
	if len(l.entries) < len(doc.Servers) {
		return nil, fmt.Errorf("duplicate %s", duplicateServer(doc.Servers))
	}
	return l, l.checkCanonical(b)
}

// checkCanonical checks that a file equals the output of Write except for white space, so
// that reviewers see what is used.
func (l *Lock) checkCanonical(b []byte) error {
	var out bytes.Buffer
	if err := l.Write(&out); err != nil {
		return err
	}
	want, err := canonical(out.Bytes())
	if err != nil {
		return err
	}
	if got, err := canonical(b); err != nil || !bytes.Equal(got, want) {
		return errors.New("not in the form that pexctl writes: misspelled keys, or servers out of order")
	}
	return nil
}

// duplicateServer returns the name of a server that occurs twice, or "".
func duplicateServer(all []server) string {
	for i, s := range all {
		if slices.ContainsFunc(all[:i], func(first server) bool { return first.Spec == s.Spec && first.Entry == s.Entry }) {
			return fmt.Sprintf("%s, tools.%s", s.Spec, s.Entry)
		}
	}
	return "a server"
}

func (s *server) entry() (Entry, error) {
	e := Entry{Spec: s.Spec, Name: s.Entry, Origin: s.Origin, Server: s.Server}
	if s.Spec == "" || s.Entry == "" {
		return e, errors.New("a server without spec or entry")
	}
	for _, t := range s.Tools {
		d := tool.Definition{Name: t.Name, Title: t.Title, Description: string(t.Description), Input: t.Input, Output: t.Output, Hints: t.Hints}
		sum, err := Digest(d)
		switch {
		case err != nil:
			return e, fmt.Errorf("tool %s: %w", t.Name, err)
		case t.Name == "":
			return e, errors.New("a tool without a name")
		case sum != t.SHA256:
			return e, fmt.Errorf("tool %s: its definition does not match its sha256, so this version was not reviewed", t.Name)
		}
		if _, double := e.Tool(t.Name); double {
			return e, fmt.Errorf("duplicate tool %s", t.Name)
		}
		e.Tools = append(e.Tools, d)
	}
	return e, nil
}
