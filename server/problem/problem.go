package problem

import (
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
)

const (
	// ContentType is the media type of problem details.
	ContentType = "application/problem+json"
	// typeBase is the start of the URIs that identify kinds of problems.
	typeBase = "https://pexctl.dev/problems/"
)

// Problem is an error of a request, as its client sees it.
type Problem struct {
	Code       Code
	Detail     string         // what is wrong, and how to fix it
	Pointer    string         // JSON Pointer to the invalid part of the request body; "" = none
	Members    map[string]any // further members, by name
	RetryAfter time.Duration  // for the header Retry-After; 0 = none
}

// New returns a problem with a formatted detail.
func New(code Code, format string, args ...any) *Problem {
	return &Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// At sets the JSON Pointer to the invalid part of the request body.
func (p *Problem) At(pointer string) *Problem {
	p.Pointer = pointer
	return p
}

// With adds a member.
func (p *Problem) With(name string, value any) *Problem {
	if p.Members == nil {
		p.Members = map[string]any{}
	}
	p.Members[name] = value
	return p
}

// Retry sets when the client may repeat the request.
func (p *Problem) Retry(after time.Duration) *Problem {
	p.RetryAfter = after
	return p
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// Status returns the HTTP status.
func (p *Problem) Status() int { return definitions[p.Code].status }

// MarshalJSON implements json.Marshaler.
func (p *Problem) MarshalJSON() ([]byte, error) {
	d := definitions[p.Code]
	b, err := jsonvalue.Marshal(struct {
		Type    string `json:"type"`
		Title   string `json:"title"`
		Status  int    `json:"status"`
		Detail  string `json:"detail"`
		Code    Code   `json:"code"`
		Pointer string `json:"pointer,omitempty"`
	}{typeBase + string(p.Code), d.title, d.status, p.Detail, p.Code, p.Pointer})
	if err != nil || len(p.Members) == 0 {
		return b, err
	}
	more, err := jsonvalue.Marshal(p.Members)
	if err != nil {
		return nil, err
	}
	return append(append(b[:len(b)-1], ','), more[1:]...), nil
}

// Pointer returns the JSON Pointer to a value, from the names and indexes on the way to it.
func Pointer(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return b.String()
}
