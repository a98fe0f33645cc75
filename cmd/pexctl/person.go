package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pexctl/pex/engine"
)

// person answers questions at the terminal where the run was started.
type person struct {
	in    io.Reader
	out   io.Writer
	pause func(func()) // takes the progress off the screen meanwhile
}

var _ engine.People = (*person)(nil)

// Ask shows what would happen, exactly, and reads one line. An end of input
// parks the run.
func (p *person) Ask(_ context.Context, q engine.Question) (answer json.RawMessage, err error) {
	p.pause(func() {
		fmt.Fprintf(p.out, "\n%s\n", safe(q.Question))
		if q.Tool != "" {
			fmt.Fprintf(p.out, "  %s\n", safe(q.Tool))
		}
		if len(q.Args) > 0 {
			fmt.Fprintf(p.out, "  %s\n", safe(string(q.Args)))
		}
		fmt.Fprint(p.out, choices(q.Kind))
		var line string
		line, err = bufio.NewReader(p.in).ReadString('\n')
		if err != nil {
			return
		}
		answer, err = json.Marshal(engine.ParseDecision(line[:len(line)-1]))
	})
	return answer, err
}

func choices(kind engine.InterruptKind) string {
	switch kind {
	case engine.AskHuman, engine.AskUser:
		return "answer: "
	}
	return "approve | deny[:why] | edit:<json>  > "
}
