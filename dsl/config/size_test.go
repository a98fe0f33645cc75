package config_test

import (
	"math"
	"testing"

	"github.com/pexctl/pex/dsl/config"
)

func TestSizes(t *testing.T) {
	tests := []struct {
		text string
		want config.Size
		ok   bool
	}{
		{"0B", 0, true},
		{"512B", 512, true},
		{"1KiB", 1 << 10, true},
		{"032KiB", 32 << 10, true},
		{"1MiB", 1 << 20, true},
		{"8GiB", 8 << 30, true},
		{"9223372036854775807B", math.MaxInt64, true},
		{"9223372036854775808B", 0, false},
		{"8589934591GiB", 8589934591 << 30, true},
		{"8589934592GiB", 0, false},
		{"99999999999999999999GiB", 0, false},
		{"", 0, false},
		{"B", 0, false},
		{"1", 0, false},
		{"1MB", 0, false},
		{"1Mi", 0, false},
		{"1 MiB", 0, false},
		{"-1MiB", 0, false},
		{"+1MiB", 0, false},
		{"1.5MiB", 0, false},
		{"1mib", 0, false},
		{"1MiB\n", 0, false},
		{"١MiB", 0, false},
	}
	for _, tt := range tests {
		got, ok := config.ParseSize(tt.text)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

// FuzzParseSize: a size has a shortest notation, which is parsed to the same size.
func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"0B", "1023B", "1024B", "1KiB", "1MiB", "3GiB", "8589934592GiB", "1MB", "", "9223372036854775807B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		size, ok := config.ParseSize(s)
		if !ok {
			return
		}
		if size < 0 {
			t.Fatalf("%q is %d", s, size)
		}
		text := size.String()
		if again, ok := config.ParseSize(text); !ok || again != size {
			t.Errorf("%q is %d, but its notation %q is %d, %v", s, size, text, again, ok)
		}
		if len(text) > len(s) {
			t.Errorf("the notation %q is longer than %q", text, s)
		}
	})
}
