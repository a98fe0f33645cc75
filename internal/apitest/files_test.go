package apitest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/web"
)

// dot returns a small PNG.
func dot(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 1))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func newFilePages(t *testing.T) *pages {
	t.Helper()
	archive, dir := goldentest.Txtar(t, "testdata/projects/files.txtar"), t.TempDir()
	archive.Extract(t, dir)
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}))
	return &pages{w, web.New(web.Options{Access: w.access, Version: "test"})}
}

// upload sends the form of an agent with a file.
func (p *pages) upload(agent, name, content string) (next string, status int, body string) {
	p.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	_ = form.WriteField("question", "What is it?")
	file, err := form.CreateFormFile("files", name)
	if err == nil {
		_, err = file.Write([]byte(content))
	}
	if err := form.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/agents/"+agent, &b)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("X-Client", "ann")
	if !web.IsUpload(r) {
		p.t.Error("the form has the limits of other forms")
	}
	res := p.serve(r)
	return res.Header().Get("Location"), res.Code, res.Body.String()
}

func TestAFormGivesARunFiles(t *testing.T) {
	p := newFilePages(t)
	if _, body := p.get("ann", "/agents/look"); !strings.Contains(body, `enctype="multipart/form-data"`) || !strings.Contains(body, `type="file"`) {
		t.Error(body)
	}
	if _, body := p.get("ann", "/agents/blind"); strings.Contains(body, `type="file"`) {
		t.Error("an agent that reads no files asks for one")
	}
	next, status, body := p.upload("look", "dot.png", dot(t))
	if status != http.StatusSeeOther {
		t.Fatal(status, body)
	}
	p.await(path.Base(next))
	if _, body := p.get("ann", next); !strings.Contains(body, "A dot.") {
		t.Error(body)
	}
	if _, body := p.get("ann", next+"/calls/plan.1/model"); !strings.Contains(body, "image/png, 2 × 1 pixels") {
		t.Error(body)
	}
	if next, status, body = p.upload("look", "", ""); status != http.StatusSeeOther {
		t.Error(next, status, body)
	}
	for name, c := range map[string][2]string{
		"dot.svg":      {`<svg xmlns="http://www.w3.org/2000/svg"/>`, "is neither an image"},
		"cut.png":      {dot(t)[:30], "is a damaged image"},
		"a.html":       {"<!doctype html>", "is neither an image"},
		"bell\x07.png": {dot(t), "the form cannot be read"},
	} {
		if _, status, body := p.upload("look", name, c[0]); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest || !strings.Contains(body, c[1]) || !strings.Contains(body, "What is it?") {
			t.Errorf("%q: %d %s", name, status, body)
		}
	}
}

func TestTheAPIGivesARunFilesForModels(t *testing.T) {
	p := newFilePages(t)
	content := dot(t)
	if res := p.do("ann", "POST", "/v1/artifacts", nil, content); res.Code != http.StatusCreated {
		t.Fatal(res.Code, res.Body)
	}
	sum := sha256.Sum256([]byte(content))
	files := fmt.Sprintf(`"files": [{"name": "dot.png", "artifact": %q}]`, hex.EncodeToString(sum[:]))
	if res := p.do("ann", "POST", "/v1/agents/look/runs", nil, `{"run_id": "r-1", "question": "What?", `+files+`}`); res.Code != http.StatusCreated {
		t.Fatal(res.Code, res.Body)
	}
	p.await("r-1")
	if res := p.do("ann", "GET", "/v1/runs/r-1", nil, ""); !strings.Contains(res.Body.String(), "A dot.") {
		t.Error(res.Body)
	}
	res := p.do("ann", "POST", "/v1/agents/blind/runs", nil, `{"run_id": "r-2", "question": "What?", `+files+`}`)
	if res.Code/100 != 4 || !strings.Contains(res.Body.String(), "is for neither a model nor a tool") || !strings.Contains(res.Body.String(), `"/files"`) {
		t.Error(res.Code, res.Body)
	}
	if res := p.do("ann", "GET", "/v1/runs/r-2", nil, ""); res.Code != http.StatusNotFound {
		t.Error("a run was started", res.Body)
	}
}
