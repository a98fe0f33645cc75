package baseline_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/eval/baseline"
)

func sample() *baseline.File {
	return &baseline.File{
		V: 1, Suite: "shop", Digest: "sha256:s", Grading: "sha256:g", Dataset: "sha256:d", Commit: "abc",
		At: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC),
		Stats: exprenv.Stats{
			N: 2, Trials: 10, Passed: 8, Failed: 2, PassRate: 0.8, CILow: 0.49, CIHigh: 0.94,
			PassAt: map[string]float64{"2": 0.9, "1": 0.8}, PassAll: map[string]float64{"1": 0.8},
			ByGroup: map[string]exprenv.GroupStats{"b": {N: 1}, "a": {N: 1}}, ByVariant: map[string]exprenv.GroupStats{}, ByCheck: map[string]exprenv.GroupStats{},
		},
		Cases: []baseline.Case{
			{Case: "z <&> \u2028", C: 5, N: 5, Score: 1, Cost: 0.0012, Tokens: 1234, LatencyMS: 810},
			{Case: "a", Variant: "small", C: 3, N: 5, Score: 0.6, Cost: 0.002, Tokens: 20, LatencyMS: 0.5},
		},
	}
}

func written(t testing.TB, f *baseline.File) string {
	t.Helper()
	var buf bytes.Buffer
	if err := baseline.Write(&buf, f); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestFileHasLinePerCase(t *testing.T) {
	goldentest.File(t, "shop.baseline.json", written(t, sample()))
	empty := sample()
	empty.Cases = nil
	if got := written(t, empty); !strings.HasSuffix(got, "\n  \"cases\": []\n}\n") {
		t.Errorf("without cases:\n%s", got)
	}
}

func TestRoundTrip(t *testing.T) {
	got, err := baseline.Read(strings.NewReader(written(t, sample())))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Error(diff)
	}
}

func TestValuesAreRounded(t *testing.T) {
	f := sample()
	f.Cases = []baseline.Case{{Case: "a", C: 1, N: 3, Score: 1.0 / 3, Cost: 0.00123456, Tokens: 1234.5678, LatencyMS: 1234.5678}}
	want := `    {"case":"a","c":1,"n":3,"score":0.333333,"cost":0.001235,"tokens":1235,"latency_ms":1230}`
	if got := written(t, f); !strings.Contains(got, want) {
		t.Errorf("got:\n%s", got)
	}
}

func TestInvalidBaselines(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "unexpected end of JSON input; to recreate it: pexctl eval bless"},
		{"something else", `{"name": "x"}`, "no version and no cases"},
		{"of a later version", `{"v": 9, "cases": []}`, "version 9, but this pexctl supports up to 1: use a later pexctl"},
		{"a merge", "{\n<<<<<<< HEAD\n\"v\": 1}", "git conflict markers"},
		{"a case twice", `{"v": 1, "cases": [{"case": "a", "c": 1, "n": 1}, {"case": "a", "c": 0, "n": 1}]}`, `duplicate case "a"`},
		{"more passed than ran", `{"v": 1, "cases": [{"case": "a", "c": 2, "n": 1}]}`, `case "a" passed 2 of 1 trials`},
		{"nothing ran", `{"v": 1, "cases": [{"case": "a", "c": 0, "n": 0}]}`, `case "a" passed 0 of 0 trials`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := baseline.Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestVariantsOfCaseAreDistinct(t *testing.T) {
	f, err := baseline.Read(strings.NewReader(`{"v": 1, "later": 1, "cases": [{"case": "a", "variant": "x", "c": 1, "n": 1}, {"case": "a", "c": 0, "n": 1}]}`))
	if err != nil || len(f.Cases) != 2 {
		t.Errorf("got %v, %v", f, err)
	}
}

// full is a writer for a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteErrorIsReturned(t *testing.T) {
	if err := baseline.Write(full{}, sample()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

func TestSizeOfFiveThousandCases(t *testing.T) {
	f := sample()
	f.Cases = nil
	for i := range 5000 {
		f.Cases = append(f.Cases, baseline.Case{Case: fmt.Sprintf("case-%04d", i), C: i % 6, N: 5, Score: 0.8333333, Cost: 0.00123456, Tokens: 1234.5, LatencyMS: 987.654})
	}
	if n := len(written(t, f)); n > 520_000 {
		t.Errorf("%d bytes", n)
	} else {
		t.Logf("%d bytes", n)
	}
}

func FuzzRead(f *testing.F) {
	// Short seeds: the fuzzer would spend most of its time minimizing long ones.
	f.Add(`{"v":1,"cases":[{"case":"a","c":1,"n":2,"cost":0.1}]}`)
	f.Add(`{"v":1,"at":"2026-01-02T15:04:05Z","stats":{"pass_at":{"1":1}},"cases":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := baseline.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		once := written(t, b)
		again, err := baseline.Read(strings.NewReader(once))
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, once)
		}
		if twice := written(t, again); twice != once {
			t.Errorf("written once:\n%s\ntwice:\n%s", once, twice)
		}
	})
}
