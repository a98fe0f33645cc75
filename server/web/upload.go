package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// filesField is the field of a form with the files of a run.
const filesField = "files"

// maxField is the most bytes of the other fields of a form with files.
const maxField = 1 << 20

// isMultipart reports whether a form may contain files.
func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data")
}

// IsUpload reports whether the body of a request may contain files, for which other limits
// apply: the form that starts a run.
func IsUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/agents/") && isMultipart(r)
}

// readForm returns the fields of a form, and stores its files as artifacts of the client. The
// fields before an error are valid.
func readForm(c *access.Client, r *http.Request) (form url.Values, files []agents.File, err error) {
	if !isMultipart(r) {
		return r.PostForm, nil, nil
	}
	form = url.Values{}
	parts, err := r.MultipartReader()
	if err != nil {
		return form, nil, unreadable(err)
	}
	left := int64(maxField)
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return form, files, nil
		}
		if err != nil {
			return form, nil, unreadable(err)
		}
		if name := part.FormName(); name != filesField {
			value, err := io.ReadAll(io.LimitReader(part, left+1))
			if err != nil {
				return form, nil, unreadable(err)
			}
			if left -= int64(len(value)); left < 0 {
				return form, nil, problem.New(problem.TooLarge, "the fields of the form have more than %d bytes", maxField)
			}
			form.Add(name, string(value))
			continue
		}
		file, err := storePart(c.Artifacts, part)
		if err != nil {
			return form, nil, err
		}
		if file.Artifact != "" {
			files = append(files, file)
		}
	}
}

// storePart stores a file of a form. It returns none for a field without a file.
func storePart(store *artifact.Store, part *multipart.Part) (agents.File, error) {
	name := filepath.Base(filepath.FromSlash(part.FileName()))
	if part.FileName() == "" {
		return agents.File{}, nil
	}
	if store == nil {
		return agents.File{}, problem.New(problem.NotFound, "this server stores no artifacts")
	}
	info, _, err := store.Put(part)
	if full, ok := errors.AsType[*artifact.QuotaError](err); ok {
		return agents.File{}, problem.New(problem.ArtifactsFull, "%v; delete runs that use artifacts, then run pexctl store gc", full)
	}
	return agents.File{Name: name, Artifact: info.SHA256}, err
}

func unreadable(err error) error {
	return problem.New(problem.InvalidRequest, "the form cannot be read: %v", err)
}
