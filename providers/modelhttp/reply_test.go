package modelhttp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

func TestStreamSizeIsLimited(t *testing.T) {
	var s modelhttp.Stream
	if err := s.Grow(modelhttp.MaxReply); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	var e *model.Error
	if err := s.Grow(1); !errors.As(err, &e) || e.Kind != model.BadReply {
		t.Errorf("error %v", err)
	}
}

func TestLongMessagesKeepStartAndEnd(t *testing.T) {
	const secret = "sk-a-secret-in-the-middle"
	long := "the server reports " + strings.Repeat("ü"+secret, 1000) + " (set options.x)"
	c := modelhttp.Client{HTTP: httpclient.New(httpclient.Settings{Secrets: []string{secret}})}
	_, err := c.Do(context.Background(), 0, func(context.Context) (int, error) { return 0, modelhttp.Bad("%s", long) })
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	m := e.Message
	if len(m) > 2100 || !strings.HasPrefix(m, "the server reports ") || !strings.HasSuffix(m, " (set options.x)") || !utf8.ValidString(m) || strings.Contains(m, "sk-") {
		t.Errorf("%d bytes: %q", len(m), m)
	}
}
