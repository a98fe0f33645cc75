package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// The files of uPlot are those of its release 1.6.32 on npm, dist/uPlot.iife.min.js and
// dist/uPlot.min.css.
func TestUPlotIsTheReleasedOne(t *testing.T) {
	for file, want := range map[string]string{
		"uplot.js":             "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uplot.css":            "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"uPlot-1.6.32.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		b, err := os.ReadFile("static/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has sha256 %x", file, sum)
		}
		if file == "uplot.js" && !strings.Contains(string(b[:100]), "v1.6.32") {
			t.Errorf("%.100s", b)
		}
	}
}
