package attachment_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/model"
)

func picture(t *testing.T, format string, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, width, height))
	var err error
	switch format {
	case attachment.PNG:
		err = png.Encode(&b, img)
	case attachment.JPEG:
		err = jpeg.Encode(&b, img, nil)
	case attachment.GIF:
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp returns a WebP file with one chunk.
func webp(kind string, data ...byte) []byte {
	size := 12 + len(data)
	b := append([]byte("RIFF"), byte(size), byte(size>>8), 0, 0)
	b = append(append(b, "WEBP"+kind...), byte(len(data)), 0, 0, 0)
	return append(b, data...)
}

func pdf(objects string) []byte { return []byte("%PDF-1.7\n" + objects + "\ntrailer << >>\n%%EOF\n") }

// compressed returns an object stream with compressed objects.
func compressed(objects string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(objects))
	w.Close()
	return "5 0 obj << /Type /ObjStm /Filter /FlateDecode >>\nstream\r\n" + b.String() + "\nendstream\nendobj"
}

func TestFilesAreRecognizedByTheirContent(t *testing.T) {
	for _, c := range []struct {
		name    string // which says another type than the content
		content []byte
		want    model.Attachment
	}{
		{"a.txt", picture(t, attachment.PNG, 3, 2), model.Attachment{MediaType: attachment.PNG, Width: 3, Height: 2}},
		{"a.pdf", picture(t, attachment.JPEG, 30, 20), model.Attachment{MediaType: attachment.JPEG, Width: 30, Height: 20}},
		{"a.png", picture(t, attachment.GIF, 7, 9), model.Attachment{MediaType: attachment.GIF, Width: 7, Height: 9}},
		{"vp8x", webp("VP8X", 0, 0, 0, 0, 0x8f, 1, 0, 0x2b, 1, 0), model.Attachment{MediaType: attachment.WebP, Width: 400, Height: 300}},
		{"vp8l", webp("VP8L", 0x2f, 0x8f, 0xc1, 0x4a, 0, 0, 0, 0, 0, 0), model.Attachment{MediaType: attachment.WebP, Width: 400, Height: 300}},
		{"vp8", webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0x90, 1, 0x2c, 1), model.Attachment{MediaType: attachment.WebP, Width: 400, Height: 300}},
		{"plain.png", pdf("1 0 obj << /Type /Pages /Count 2 >> << /Type /Page >> << /Type/Page/Parent 1 0 R >>"), model.Attachment{MediaType: attachment.PDF, Pages: 2}},
		{"compressed", pdf(compressed("<< /Type /Page >> << /Type /Pages >> << /Type /Page >> << /Type /Page >>")), model.Attachment{MediaType: attachment.PDF, Pages: 3}},
		{"unknown", pdf("5 0 obj << /Type /ObjStm >> stream\nencrypted\nendstream endobj"), model.Attachment{MediaType: attachment.PDF}},
	} {
		got, err := attachment.Inspect(c.name, bytes.NewReader(c.content))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(got.SHA256) != 64 || got.Size != int64(len(c.content)) || got.Name != c.name {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.MediaType != c.want.MediaType || got.Width != c.want.Width || got.Height != c.want.Height || got.Pages != c.want.Pages {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// hugePNG returns a small PNG whose header claims a huge image.
func hugePNG() []byte {
	header := []byte("IHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x00\x00\x00\x00")
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	sum := crc32.ChecksumIEEE(header)
	b = append(b, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
	return append(b, "\x00\x00\x00\x00IEND\xaeB`\x82"...)
}

func TestOtherAndDamagedFilesAreRejected(t *testing.T) {
	whole := picture(t, attachment.PNG, 400, 300)
	photo := picture(t, attachment.JPEG, 400, 300)
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"svg":            {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "is neither an image"},
		"html":           {[]byte(`<!doctype html><img src=x onerror=alert(1)>`), "is neither an image"},
		"empty":          {nil, "is neither an image"},
		"bmp":            {[]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "is neither an image"},
		"riff":           {[]byte("RIFF\x10\x00\x00\x00WAVEfmt \x00\x00\x00\x00"), "is neither an image"},
		"png header":     {whole[:20], "damaged image (image/png)"},
		"truncated png":  {whole[:len(whole)-20], "damaged image (image/png)"},
		"truncated jpeg": {photo[:len(photo)-20], "damaged image (image/jpeg)"},
		"truncated webp": {webp("VP8X", 0, 0, 0, 0, 1, 0, 0, 1, 0, 0)[:24], "damaged image (image/webp)"},
		"webp chunk":     {webp("ALPH", 0, 0, 0, 0, 1, 0, 0, 1, 0, 0), "damaged image (image/webp)"},
		"empty gif":      {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00;"), "0 × 0 pixels"},
		"huge png":       {hugePNG(), "65536 × 65536 pixels"},
		"truncated pdf":  {pdf("<< /Type /Page >>")[:20], "its end is missing"},
		"40 MB":          {append(append([]byte{}, whole...), make([]byte, 40<<20)...), "is larger than 20.0 MB"},
	} {
		_, err := attachment.Inspect(name, bytes.NewReader(c.content))
		bad, ok := errors.AsType[*attachment.Error](err)
		if !ok || !strings.Contains(bad.Error(), c.want) || !strings.Contains(bad.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPagesAreCountedWithinBounds(t *testing.T) {
	bomb := compressed(strings.Repeat(" ", 64<<20))
	got, err := attachment.Inspect("bomb.pdf", bytes.NewReader(pdf("<< /Type /Page >>"+bomb)))
	if err != nil || got.Pages != 0 || attachment.PagesOf(got) != attachment.AssumedPages {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLimitsOfARun(t *testing.T) {
	image := func(n int64) model.Attachment {
		return model.Attachment{Name: fmt.Sprintf("%d.png", n), MediaType: attachment.PNG, Size: n, Width: 10, Height: 10}
	}
	if err := attachment.Check([]model.Attachment{image(10 << 20), image(13 << 20)}); err != nil {
		t.Error(err)
	}
	if err := attachment.Check([]model.Attachment{image(10 << 20), image(14 << 20)}); err == nil || !strings.Contains(err.Error(), "23.0 MB together") {
		t.Error(err)
	}
	if err := attachment.Check(make([]model.Attachment, attachment.MaxFiles+1)); err == nil || !strings.Contains(err.Error(), "20 files") {
		t.Error(err)
	}
}

func TestLimitsOfAProvider(t *testing.T) {
	both := []model.FileKind{model.ImageFile, model.PDFFile}
	image := model.Attachment{Name: "a.png", MediaType: attachment.PNG, Size: 2 << 20, Width: 9000, Height: 10}
	doc := model.Attachment{Name: "a.pdf", MediaType: attachment.PDF, Size: 5 << 20, Pages: 120}
	for want, c := range map[string]struct {
		files   []model.Attachment
		support model.FileSupport
	}{
		"":                                 {[]model.Attachment{image, doc}, model.FileSupport{}},
		"has 2.0 MB, more than the 1.0 MB": {[]model.Attachment{image}, model.FileSupport{ImageBytes: 1 << 20}},
		"9000 × 10 pixels":                 {[]model.Attachment{image}, model.FileSupport{ImageEdge: 8000}},
		"has 120 pages":                    {[]model.Attachment{image, doc}, model.FileSupport{PDFPages: 100}},
		"more than the 4.0 MB":             {[]model.Attachment{doc}, model.FileSupport{PDFBytes: 4 << 20}},
		"takes 1 PDF files":                {[]model.Attachment{doc, doc}, model.FileSupport{PDFs: 1}},
		"takes files of 6.0 MB together":   {[]model.Attachment{image, doc}, model.FileSupport{TotalBytes: 6 << 20}},
	} {
		err := attachment.CheckSupport(c.files, "main", both, c.support)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := attachment.CheckSupport([]model.Attachment{doc}, "main", both[:1], model.FileSupport{PDFPages: 1}); err != nil {
		t.Errorf("a file that the LLM does not accept counts: %v", err)
	}
}

func TestTokensOfClaude(t *testing.T) {
	for _, c := range []struct {
		file model.Attachment
		want int
	}{
		{model.Attachment{MediaType: attachment.PNG, Width: 1000, Height: 1000}, 1334},
		{model.Attachment{MediaType: attachment.PNG, Width: 1, Height: 1}, 1},
		{model.Attachment{MediaType: attachment.PNG, Width: 8000, Height: 8000}, 4784},
		{model.Attachment{MediaType: attachment.PDF, Pages: 2}, 2 * 7784},
		{model.Attachment{MediaType: attachment.PDF}, attachment.AssumedPages * 7784},
	} {
		if got := attachment.ClaudeTokens(c.file); got != c.want {
			t.Errorf("%+v: %d, want %d", c.file, got, c.want)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Add(webp("VP8X", 0, 0, 0, 0, 1, 0, 0, 1, 0, 0))
	f.Add(pdf("<< /Type /Page >>"))
	f.Add(hugePNG())
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := attachment.Inspect("f", bytes.NewReader(b))
		if err != nil {
			return
		}
		if a.Kind() == model.ImageFile && (a.Width < 1 || a.Height < 1 || a.Width > attachment.MaxEdge || a.Height > attachment.MaxEdge) {
			t.Errorf("%+v", a)
		}
	})
}
