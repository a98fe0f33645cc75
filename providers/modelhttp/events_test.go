package modelhttp_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/providers/modelhttp"
)

func TestEventsOfAStream(t *testing.T) {
	long := strings.Repeat("x", 10_000) // longer than the reader's buffer
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"data", "data: a\n\ndata:b\n\n", []string{": a", ": b"}},
		{"a type, which ends with its event", "event: ping\ndata: {}\n\ndata: a\n\n", []string{"ping: {}", ": a"}},
		{"carriage returns", "event: a\r\ndata: b\r\n\r\n", []string{"a: b"}},
		{"several lines", "data: a\ndata: b\n\n", []string{": a\nb"}},
		{"comments, other fields and blank lines", ": hello\n\n\nid: 7\nretry: 1\ndata: a\n\n", []string{": a"}},
		{"an event without data", "event: ping\n\nevent: b\ndata:\n\n", nil},
		{"long lines", "data: " + long + "\n\ndata: b\n\n", []string{": " + long, ": b"}},
		{"complete without the blank line", "data: a\n\nevent: e\ndata: {\"b\":1}\n", []string{": a", `e: {"b":1}`}},
		{"complete without a line end", "data: {\"b\":1}", []string{`: {"b":1}`}},
		{"cut in the data", "data: a\n\ndata: {\"b\":", []string{": a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, from := range []io.Reader{strings.NewReader(tt.stream), iotest.OneByteReader(strings.NewReader(tt.stream))} {
				var got []string
				for e, err := range modelhttp.Events(from) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, e.Type+": "+string(e.Data))
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestAnErrorEndsTheEvents(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	for e, err := range modelhttp.Events(io.MultiReader(strings.NewReader("data: a\n\ndata: {}\n"), iotest.ErrReader(broken))) {
		if n++; n == 1 && string(e.Data) == "a" && err == nil {
			continue
		}
		if n != 2 || !errors.Is(err, broken) {
			t.Errorf("event %d is %q, error %v", n, e.Data, err)
		}
	}
	if n != 2 {
		t.Errorf("%d events", n)
	}
	for range modelhttp.Events(strings.NewReader("data: a\n\ndata: b\n\n")) {
		break // must not go on after the caller stopped
	}
}

func TestAStreamUsesOneBuffer(t *testing.T) {
	stream := strings.Repeat("event: delta\ndata: {\"text\":\"some words of a reply\"}\n\n", 1000)
	allocs := testing.AllocsPerRun(10, func() {
		for _, err := range modelhttp.Events(strings.NewReader(stream)) {
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocs > 12 {
		t.Errorf("%.0f allocations for 1000 events", allocs)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("event: a\r\ndata: {\"b\":1}\n\n: c\ndata: d")
	f.Fuzz(func(t *testing.T, stream string) {
		for e, err := range modelhttp.Events(strings.NewReader(stream)) {
			if err != nil || len(e.Data) == 0 || len(e.Data) > len(stream) || strings.TrimSpace(string(e.Data)) != string(e.Data) {
				t.Errorf("event %q, error %v", e, err)
			}
		}
	})
}
