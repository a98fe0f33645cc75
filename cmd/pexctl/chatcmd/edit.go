package chatcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Edit implements chat.Screen with $VISUAL or $EDITOR.
func (s *screen) Edit(ctx context.Context, name, text string) (edited string, err error) {
	words := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	dir, err := os.MkdirTemp("", "pexctl-chat-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	if err := s.tui.Exec(ctx, cmd); err != nil {
		return "", fmt.Errorf("%s: %w", words[0], err)
	}
	b, err := os.ReadFile(file)
	return string(b), err
}
