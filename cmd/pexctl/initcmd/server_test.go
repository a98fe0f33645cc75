package initcmd

import "testing"

func TestOllamaHostIsReadAsOllamaReadsIt(t *testing.T) {
	for host, want := range map[string]string{
		"":                          "http://localhost:11434/v1",
		"0.0.0.0":                   "http://localhost:11434/v1",
		":11500":                    "http://localhost:11500/v1",
		"127.0.0.1:11500":           "http://127.0.0.1:11500/v1",
		"gpu-box":                   "http://gpu-box:11434/v1",
		"http://gpu-box":            "http://gpu-box:80/v1",
		"https://gpu.example.com/o": "https://gpu.example.com:443/o/v1",
		"[::1]:11500":               "http://[::1]:11500/v1",
		"[::]":                      "http://localhost:11434/v1",
		" 10.0.0.5 ":                "http://10.0.0.5:11434/v1",
	} {
		if got := ollamaBase(host); got != want {
			t.Errorf("OLLAMA_HOST=%q: %s, want %s", host, got, want)
		}
	}
}
