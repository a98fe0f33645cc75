//go:build e2e && unix

package e2e_test

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/genai"
)

// googleai is a model of the mock's Gemini API.
func googleai(t *testing.T, flags ...string) model.Model {
	t.Helper()
	base, err := url.Parse(e2e.Aimock(t, "testdata/aimock.json", flags...))
	if err != nil {
		t.Fatal(err)
	}
	m, err := genai.GoogleAI.Build(genai.GoogleAI.Config(), model.Settings{
		Name: "main", Model: "gemini-2.5-flash", BaseURL: "http://" + base.Host, APIKey: "of-nothing", Timeout: 30 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestE2EGoogleAIAnswersWhole(t *testing.T) {
	m := googleai(t, "--chunk-size", "3")
	for _, streamed := range []bool{false, true} {
		for _, tools := range []bool{false, true} {
			t.Run(fmt.Sprintf("streamed=%v,tools=%v", streamed, tools), func(t *testing.T) {
				r, err := generate(t, m, mockRequest(tools), streamed)
				if err != nil {
					t.Fatal(err)
				}
				if wrong := right(r, tools); wrong != "" {
					t.Error(wrong)
				}
			})
		}
	}
}

// Under chaos every call ends, in the right answer or in a typed error.
func TestE2EGoogleAIGivesNoWrongAnswerUnderChaos(t *testing.T) {
	const n, workers = 200, 8
	m := googleai(t, "--chunk-size", "5", "--chaos-ratelimit", "0.1", "--chaos-drop", "0.1", "--chaos-malformed", "0.1", "--chaos-disconnect", "0.1")
	var mu sync.Mutex
	kinds := map[model.ErrorKind]int{}
	answered := 0
	one := func(i int) {
		tools, streamed := i%2 == 0, i%4 < 2
		r, err := generate(t, m, mockRequest(tools), streamed)
		mu.Lock()
		defer mu.Unlock()
		var e *model.Error
		switch {
		case err == nil && right(r, tools) == "":
			answered++
		case err == nil:
			t.Errorf("call %d: a wrong answer was taken for a right one: %s", i, right(r, tools))
		case errors.As(err, &e):
			kinds[e.Kind]++
		default:
			t.Errorf("call %d: untyped error %v", i, err)
		}
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				one(i)
			}
		})
	}
	wg.Wait()
	t.Logf("%d right, errors %v", answered, kinds)
	if answered < n/3 || len(kinds) < 2 {
		t.Errorf("%d of %d right, errors %v: was there chaos at all?", answered, n, kinds)
	}
}
