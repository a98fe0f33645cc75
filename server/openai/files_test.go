package openai_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/server/openai"
)

// dot is a PNG of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestImagesAreAttachedToTheRun sends an image twice, under a name of the client and without one.
func TestImagesAreAttachedToTheRun(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	url := "data:image/png;base64," + dot
	status, body := w.post("ann", "/v1/responses", fmt.Sprintf(`{"model": "sees", "input": [{"role": "user", "content": [
		{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": %q}, {"type": "input_file", "filename": "photos/image-1.png", "file_data": %[1]q}]}]}`, url))
	if status != http.StatusOK {
		t.Fatal(status, body)
	}
	start, err := w.Access.Tenant("").Runs.StartOf(runID.FindString(body))
	if err != nil {
		t.Fatal(err)
	}
	content, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	var got []string
	for _, a := range start.Input.Attachments {
		if a.SHA256 != digest || a.Kind() != model.ImageFile {
			t.Errorf("%s is %s, a %s", a.Name, a.SHA256, a.MediaType)
		}
		got = append(got, a.Name)
	}
	if d := cmp.Diff([]string{"image-1.png", "2-image-1.png"}, got); d != "" {
		t.Error(d)
	}
}

// TestFilesBeyondTheQuotaAreAnError fills the store of the tenant, of 4 kB.
func TestFilesBeyondTheQuotaAreAnError(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(make([]byte, 5000))
	status, body := w.post("ann", "/v1/chat/completions", fmt.Sprintf(
		`{"model": "sees", "messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": %q}}]}]}`, url))
	if status != http.StatusInsufficientStorage && status != http.StatusRequestEntityTooLarge || w.Runs() != 0 {
		t.Errorf("%d %s, %d runs", status, body, w.Runs())
	}
}
