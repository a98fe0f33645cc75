package prompt_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/component"
)

// rendered returns the size of a template's text, or the error if it is too
// large.
func rendered(t *prompt.Template, values map[string]any) (n int, err error) {
	defer component.CatchTooLarge(&err)
	for _, s := range t.Render(from(values)) {
		n += len(s)
	}
	return n, nil
}

func TestReferenceAcceptsFourFilters(t *testing.T) {
	for n, want := range map[int]bool{4: false, 5: true, 26: true} {
		src := "a ${parameters.topic" + strings.Repeat("|json", n) + "}"
		_, problems := prompt.Parse(src, strict)
		if prompt.Failed(problems) != want {
			t.Errorf("%d filters: %+v", n, problems)
		}
		if want && (len(problems) != 1 || problems[0].Offset != 2 || !strings.Contains(problems[0].Message, fmt.Sprintf("the reference has %d filters; the maximum is 4", n))) {
			t.Errorf("%d filters: %+v", n, problems)
		}
	}
}

func TestRenderedTemplateHasAMaximumSize(t *testing.T) {
	mebi := strings.Repeat("x", 1<<20)
	lines := strings.Repeat("\n-", 1<<20)
	quotes := strings.Repeat(`"`, 1<<20)
	for _, c := range []struct {
		name, src string
		value     any
		fits      bool
	}{
		{"one large value", "${parameters.topic}", mebi, true},
		{"sixteen of it", strings.Repeat("${parameters.topic}", 16), mebi, true},
		{"sixteen and a letter", strings.Repeat("${parameters.topic}", 16) + "x", mebi, false},
		{"sixty thousand of it", strings.Repeat("${parameters.topic}", 60_000), mebi, false},
		{"in defaults", "${parameters.lang:-" + strings.Repeat("${parameters.topic}", 17) + "}", mebi, false},
		{"segments", "${parameters.topic}", []string{strings.Repeat(mebi, 16), "x"}, false},
		{"segments beside text", "a ${parameters.topic}", []string{strings.Repeat(mebi, 16), "x"}, false},
		{"filtered segments", "${parameters.topic|trim}", []string{strings.Repeat(mebi, 16), "x"}, false},
		{"quotes doubled again and again", "${parameters.topic|json|json|json|json}", quotes, false},
		{"indented lines", "${parameters.topic|indent 100}", lines, false},
		{"indented lines that fit", "${parameters.topic|indent 7}", lines, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := strict
			o.Source = "spec.yaml:3:5"
			tpl, problems := prompt.Parse(c.src, o)
			if prompt.Failed(problems) {
				t.Fatal(problems)
			}
			n, err := rendered(tpl, map[string]any{"topic": c.value})
			var large *component.TooLarge
			if errors.As(err, &large) == c.fits {
				t.Errorf("%d bytes, error %v", n, err)
			}
			if !c.fits && err.Error() != "spec.yaml:3:5: the template renders to more than 16 MiB" {
				t.Errorf("error %v", err)
			}
		})
	}
}

// The limit applies to allocated memory, not only to the result.
func TestTooLargeTextIsNotAllocated(t *testing.T) {
	tpl, _ := prompt.Parse("${parameters.topic|indent 100|json|json|json}", strict)
	values := map[string]any{"topic": strings.Repeat("\n\"", 1<<20)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := rendered(tpl, values)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 1<<20 {
		t.Errorf("%d bytes were allocated for a text that does not fit, error %v", got, err)
	}
}
