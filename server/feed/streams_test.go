package feed_test

import (
	"errors"
	"testing"

	"github.com/pexctl/pex/server/feed"
)

func TestStreamsAreLimitedAndEnded(t *testing.T) {
	s := feed.NewStreams(2, 0)
	first, release, err := s.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := s.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = s.Open(t.Context(), ""); !errors.Is(err, feed.ErrTooManyStreams) {
		t.Errorf("a third stream: %v", err)
	}
	release()
	release() // again has no effect
	if first.Err() == nil || second.Err() != nil || s.Len() != 1 {
		t.Errorf("after a release: %v, %v, %d are open", first.Err(), second.Err(), s.Len())
	}
	third, _, err := s.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if second.Err() == nil || third.Err() == nil {
		t.Error("Close does not end the streams")
	}
	if _, _, err = s.Open(t.Context(), ""); !errors.Is(err, feed.ErrClosing) {
		t.Errorf("a stream after Close: %v", err)
	}
	var none *feed.Streams
	if ctx, release, err := none.Open(t.Context(), ""); err != nil || ctx.Err() != nil {
		t.Errorf("without a limit: %v", err)
	} else {
		release()
	}
}
