package main

import (
	"strings"
	"testing"
)

// All peers make the same calls and give the same answer.
func TestPeersDoTheSameWork(t *testing.T) {
	for _, k := range []int{1, 5, 40} {
		for _, p := range peers {
			c := &counts{}
			run, err := p.build(k, c)
			if err != nil {
				t.Fatal(p.name, err)
			}
			answer, err := run()
			if err != nil || answer != total {
				t.Fatalf("%s, k=%d: %q, %v", p.name, k, answer, err)
			}
			if err := c.check(1, k); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
		}
	}
}

func TestOtherWorkIsAnError(t *testing.T) {
	c := &counts{}
	c.models.Store(15)
	c.tools.Store(5)
	if err := c.check(1, 5); err == nil || !strings.Contains(err.Error(), "15 model calls") {
		t.Errorf("got %v", err)
	}
}
