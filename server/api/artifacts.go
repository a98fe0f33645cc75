package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/jsonbody"
	"github.com/pexctl/pex/server/problem"
)

const uploadText = `Stores a file for runs (files of createRun), by the SHA-256 of its content. The body is the content, or
multipart/form-data with one part named file. 201: it is durable. 200: the server has the same content already. An artifact that no
run uses is kept for at least a day.`

func (a *operations) addArtifacts() {
	s := a.server
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	add(a, describe{
		id: "createArtifact", method: http.MethodPost, path: artifactsPath, tag: "artifacts", summary: "Upload a file", text: uploadText,
		responses: map[int]any{200: artifact.Info{}, 201: artifact.Info{}}, problems: []int{403, 408, 413, 422, 507},
		body: map[string]*huma.MediaType{
			"application/octet-stream": {Schema: binary},
			"multipart/form-data":      {Schema: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"file": binary}, Required: []string{"file"}}},
		},
	}, s.createArtifact)
	of := func(id, path, tag, summary, text string, responses map[int]any, problems ...int) describe {
		return describe{id: id, method: http.MethodGet, path: path, tag: tag, summary: summary, text: text, responses: responses, problems: problems}
	}
	file := map[int]any{200: mediaType("application/octet-stream")}
	add(a, of("getArtifact", artifactsPath+"/{sha256}", "artifacts", "Download an uploaded file", "Supports Range.", file, 403, 404, 416), s.getArtifact)
	add(a, of("listRunArtifacts", "/v1/runs/{run}/artifacts", "runs", "List the files of a run",
		"The files that the run was given, and those that its tools wrote (write_file), as they wrote them.",
		map[int]any{200: RunArtifactList{}}, 404), s.listRunArtifacts)
	add(a, of("getRunArtifact", "/v1/runs/{run}/artifacts/{sha256}", "runs", "Download a file of a run", "Supports Range.", file, 404, 416), s.getRunArtifact)
}

const artifactsPath = "/v1/artifacts"

// IsUpload reports whether the body of a request is a file, for which other limits apply.
func IsUpload(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == artifactsPath
}

// artifacts returns the store of the client's tenant, if the client may perform an action
// on the runs of any agent.
func (s *server) artifacts(ctx context.Context, do string) (*artifact.Store, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if c.Artifacts == nil {
		return nil, problem.New(problem.NotFound, "this server stores no artifacts")
	}
	for _, a := range c.Agents().All() {
		if c.Can(do, a) {
			return c.Artifacts, nil
		}
	}
	return c.Artifacts, c.Permit(do, nil)
}

func (s *server) createArtifact(ctx context.Context, _ *struct{}) (reply, error) {
	store, err := s.artifacts(ctx, auth.Run)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		info, existed, err := s.upload(store, w, r)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		status := http.StatusCreated
		if existed {
			status = http.StatusOK
		}
		respond, err := replyJSON(status, info)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		w.Header().Set("Location", artifactsPath+"/"+info.SHA256)
		respond(w, r)
	}, nil
}

// formOverhead is how much longer than a file the form that contains it may be.
const formOverhead = 4 << 10

// upload stores the file in a request.
func (s *server) upload(store *artifact.Store, w http.ResponseWriter, r *http.Request) (info artifact.Info, existed bool, err error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isForm, limit := kind == "multipart/form-data", s.MaxUpload
	if isForm {
		limit += formOverhead
	}
	body := &uploadBody{Reader: http.MaxBytesReader(w, r.Body, limit)}
	if isForm {
		r.Body = io.NopCloser(body)
		info, existed, err = uploadPart(store, r)
	} else {
		info, existed, err = store.Put(body)
	}
	if over, ok := errors.AsType[*http.MaxBytesError](body.err); ok {
		over.Limit = s.MaxUpload
	}
	if body.err != nil {
		return info, false, jsonbody.Unreadable(body.err)
	}
	return info, existed, access.Full(err)
}

// uploadPart stores the file in a form.
func uploadPart(store *artifact.Store, r *http.Request) (info artifact.Info, existed bool, err error) {
	malformed := problem.New(problem.InvalidRequest, "the body must be multipart/form-data with one part, named file")
	form, err := r.MultipartReader()
	if err != nil {
		return info, false, malformed
	}
	part, err := form.NextPart()
	if err != nil || part.FormName() != "file" {
		return info, false, malformed
	}
	content := &uploadBody{Reader: part}
	if info, existed, err = store.Put(content); content.err != nil {
		return info, false, malformed
	}
	if err != nil {
		return info, false, err
	}
	if _, err := form.NextPart(); !errors.Is(err, io.EOF) {
		return info, false, malformed
	}
	return info, existed, nil
}

// uploadBody records the error of a reader, which is the client's and not the store's.
type uploadBody struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (b *uploadBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

type artifactRequest struct {
	SHA256 string `path:"sha256" doc:"SHA-256 of the content, in lower-case hex."`
}

func (s *server) getArtifact(ctx context.Context, in *artifactRequest) (reply, error) {
	store, err := s.artifacts(ctx, auth.View)
	if err != nil {
		return nil, err
	}
	return replyArtifact(store, in.SHA256, in.SHA256)
}

// replyArtifact responds with an artifact. name is shown to the user.
func replyArtifact(store *artifact.Store, digest, name string) (reply, error) {
	f, err := store.Open(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, access.NoArtifact(digest)
	}
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		defer f.Close()
		serveFile(w, r, f, digest, name)
	}, nil
}

// serveFile responds with a file. A browser must not show it: it may contain a script.
func serveFile(w http.ResponseWriter, r *http.Request, f io.ReadSeeker, digest, name string) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)})
	if disposition == "" {
		disposition = "attachment"
	}
	h.Set("Content-Disposition", disposition)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
	h.Set("ETag", `"`+digest+`"`)
	http.ServeContent(&rangeProblems{ResponseWriter: w, request: r}, r, "", time.Time{}, f)
}

// rangeProblems replaces the response to an invalid range by a problem.
type rangeProblems struct {
	http.ResponseWriter
	request *http.Request
	discard bool
}

// WriteHeader implements http.ResponseWriter.
func (w *rangeProblems) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.discard = true
	w.Header().Del("Content-Disposition")
	problem.Write(w.ResponseWriter, w.request, problem.New(problem.InvalidRange, "invalid range; Content-Range has the size of the file"))
}

// Write implements io.Writer.
func (w *rangeProblems) Write(b []byte) (int, error) {
	if w.discard {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// RunArtifactList has the files of a run.
type RunArtifactList struct {
	Artifacts []RunArtifact `json:"artifacts"`
}

// RunArtifact is a file of a run.
type RunArtifact struct {
	Name   string `json:"name" doc:"As shown in prompts, or below the folder of the tool that wrote it."`
	Source string `json:"source" enum:"given,written" doc:"given: an input of the run; written: a tool wrote it."`
	SHA256 string `json:"sha256,omitempty" doc:"SHA-256 of the content; missing for files of the command line, which the server does not have."`
	Size   int64  `json:"size" doc:"In bytes."`
	Tool   string `json:"tool,omitempty" doc:"The tool that wrote it."`
	Call   string `json:"call,omitempty" doc:"Path of the call that wrote it."`
	URL    string `json:"url,omitempty" doc:"Where to download it; missing if it is no longer available."`

	content *string // of a written file
}

// runArtifacts returns the client, and the files of a run that it may view.
func (s *server) runArtifacts(ctx context.Context, id string) (*access.Client, []RunArtifact, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, nil, err
	}
	r, err := c.Read(id)
	if err != nil {
		return nil, nil, err
	}
	out := []RunArtifact{}
	for _, name := range r.Start.Input.Files {
		out = append(out, given(c, id, name, r.Start.Input.Artifacts[name]))
	}
	for _, f := range r.Written() {
		out = append(out, written(id, f))
	}
	return c, out, nil
}

// given describes a file that a run was given.
func given(c *access.Client, run, name, digest string) RunArtifact {
	a := RunArtifact{Name: name, Source: "given", SHA256: digest}
	if digest == "" || c.Artifacts == nil {
		return a
	}
	if size, err := c.Artifacts.Size(digest); err == nil {
		a.Size, a.URL = size, runArtifactURL(run, digest)
	}
	return a
}

// written describes a file that a tool of a run wrote.
func written(run string, f runs.WrittenFile) RunArtifact {
	sum := sha256.Sum256([]byte(f.Content))
	digest := hex.EncodeToString(sum[:])
	return RunArtifact{
		Name: f.Name, Source: "written", SHA256: digest, Size: int64(len(f.Content)), Tool: f.Tool, Call: f.Call,
		URL: runArtifactURL(run, digest), content: &f.Content,
	}
}

func runArtifactURL(run, digest string) string { return locationOf(run) + "/artifacts/" + digest }

func (s *server) listRunArtifacts(ctx context.Context, in *RunPath) (reply, error) {
	_, all, err := s.runArtifacts(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, RunArtifactList{all})
}

type runArtifactRequest struct {
	RunPath
	SHA256 string `path:"sha256" doc:"SHA-256 of the content, in lower-case hex."`
}

func (s *server) getRunArtifact(ctx context.Context, in *runArtifactRequest) (reply, error) {
	c, all, err := s.runArtifacts(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		switch {
		case a.SHA256 != in.SHA256 || a.URL == "":
		case a.content == nil:
			return replyArtifact(c.Artifacts, a.SHA256, a.Name)
		default:
			return func(w http.ResponseWriter, r *http.Request) {
				serveFile(w, r, strings.NewReader(*a.content), a.SHA256, a.Name)
			}, nil
		}
	}
	return nil, problem.New(problem.NotFound, "run %s has no artifact %q", in.Run, in.SHA256)
}
