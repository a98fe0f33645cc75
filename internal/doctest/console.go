package doctest

import "strings"

// consoleCommand is a command of a console block, with the output in the page.
type consoleCommand struct{ prompt, command, output string }

// commands parses a console block: lines that start with $, continuation lines after a \, and their output.
func commands(body string) []consoleCommand {
	var out []consoleCommand
	more := false
	for line := range strings.Lines(body) {
		command, isNew := strings.CutPrefix(line, "$ ")
		switch {
		case more:
			last := &out[len(out)-1]
			last.prompt, last.command = last.prompt+line, last.command+line
			more = strings.HasSuffix(line, "\\\n")
		case isNew:
			out = append(out, consoleCommand{prompt: line, command: command})
			more = strings.HasSuffix(line, "\\\n")
		case len(out) > 0:
			out[len(out)-1].output += line
		}
	}
	return out
}

// console runs the commands of a block, and updates the page if their output differs.
func (w *pageRun) console(b Block) {
	w.t.Helper()
	if !strings.HasPrefix(b.Body, "$ ") {
		w.errorf(b, "a console block starts with a command: $ pexctl ...")
		return
	}
	var now strings.Builder
	changed := false
	for _, c := range commands(b.Body) {
		got, ok := w.runCommand(b, strings.TrimSuffix(c.command, "\n"))
		now.WriteString(c.prompt)
		if !ok {
			now.WriteString(c.output)
			continue
		}
		changed = changed || !Matches(c.output, got)
		now.WriteString(Abridge(c.output, got))
	}
	if changed {
		w.rewrite(b, now.String())
	}
}

// runCommand runs a command as the block's markers say. ok is false if that is impossible here. A server runs in the
// background.
func (w *pageRun) runCommand(b Block, command string) (string, bool) {
	w.t.Helper()
	if columns := b.Markers["terminal"]; columns != "" {
		return w.atTerminal(columns, b.Markers["types"], command)
	}
	if isServe(command) {
		out, err := w.serve(command)
		if err != nil {
			w.errorf(b, "%v", err)
		}
		return out, err == nil
	}
	out, _ := w.run(command)
	return out, true
}

// rewrite replaces the body of a block of the page.
func (w *pageRun) rewrite(b Block, body string) {
	indent := w.page.lines[b.from-1]
	indent = indent[:len(indent)-len(strings.TrimLeft(indent, " "))]
	var lines []string
	for line := range strings.Lines(body) {
		lines = append(lines, strings.TrimRight(indent+line, " \n"))
	}
	from, to := b.from+w.added, b.to+w.added
	w.lines = append(append(append([]string(nil), w.lines[:from]...), lines...), w.lines[to:]...)
	w.added += len(lines) - (to - from)
}
