package attachment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/regular"
)

// Attach returns the messages with those files that an LLM accepts at the first message of
// the user, which later requests of a conversation repeat. s counts their tokens.
func Attach(messages []model.Message, files []model.Attachment, accepts []model.FileKind, s model.FileSupport) []model.Message {
	first := slices.IndexFunc(messages, func(m model.Message) bool { return m.Role == model.User })
	if first < 0 {
		return messages
	}
	var accepted []model.Attachment
	for _, f := range files {
		if !slices.Contains(accepts, f.Kind()) {
			continue
		}
		accepted = append(accepted, f)
	}
	out := slices.Clone(messages)
	out[first].Attachments = accepted
	Count(out[first:first+1], s)
	return out
}

// Count sets the tokens of the files in messages, which JSON omits.
func Count(messages []model.Message, s model.FileSupport) {
	if s.Tokens == nil {
		return
	}
	for i := range messages {
		for j := range messages[i].Attachments {
			f := &messages[i].Attachments[j]
			f.Tokens = s.Tokens(*f)
		}
	}
}

// Load adds the content of its files to a request, from the artifacts of a home. It does not
// change messages that other requests share. The error names the file that is missing or has
// changed.
func Load(home string, req *model.Request) *model.Error {
	own := false
	for i := range req.Messages {
		if len(req.Messages[i].Attachments) == 0 {
			continue
		}
		if !own {
			req.Messages, own = slices.Clone(req.Messages), true
		}
		files := slices.Clone(req.Messages[i].Attachments)
		for j := range files {
			content, err := read(home, &files[j])
			if err != nil {
				return &model.Error{Kind: model.BadRequest, Message: err.Error(), NotSent: true, Err: err}
			}
			files[j].Content = content
		}
		req.Messages[i].Attachments = files
	}
	return nil
}

// read returns the content of a file after checking its digest.
func read(home string, a *model.Attachment) ([]byte, error) {
	if home == "" {
		return nil, fmt.Errorf("the content of the file %s is not available: the run has no home with artifacts", a.Name)
	}
	f, err := regular.Open(artifact.Path(home, a.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the content of the file %s is missing: the home has no artifact %s; start the run again with the file", a.Name, a.SHA256)
	}
	if err != nil {
		return nil, fmt.Errorf("the content of the file %s: %w", a.Name, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, a.Size+1))
	if err != nil {
		return nil, fmt.Errorf("the content of the file %s: %w", a.Name, err)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != a.SHA256 {
		return nil, fmt.Errorf("the artifact of the file %s has been changed: its content does not have the SHA-256 %s; start the run again with the file", a.Name, a.SHA256)
	}
	return content, nil
}
