package runtime

import (
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
)

// withBudget reserves the worst case of a call and settles its actual usage afterwards.
// Without a budget it only counts usage.
type withBudget struct{ next modelStage }

func (w withBudget) ask(s *scope, q *modelQuery) (*model.Reply, error) {
	r, spec, name := s.r, q.llm.spec, q.attempt.path()
	q.reserved = reservation{}
	if q.request.Metered = r.budgeted(); q.request.Metered {
		var err error
		if q.reserved, err = s.reserveRequest(&q.request.Request, spec.Cost); err != nil {
			return nil, err
		}
		s.charge(name, q.reserved)
	}
	reply, err := w.next.ask(s, q)
	if err != nil {
		r.settle(q.reserved, s.chargeUnanswered(name, spec.Name, q.reserved, err))
		return nil, err
	}
	s.uncharge(name, q.reserved)
	used := reservation{tokens: reply.Usage.Total(), cost: spec.Cost.Of(reply.Usage)}
	if r.settle(q.reserved, used) && q.request.Metered {
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("llm %s used %d tokens; at most %d were expected", spec.Name, used.tokens, q.reserved.tokens)})
	}
	return reply, nil
}

// reserveRequest reserves the worst case of a request and limits its output accordingly.
func (s *scope) reserveRequest(req *model.Request, price *model.Cost) (reservation, error) {
	input := requestBytes(req) / 2
	wanted, out, least := req.Params.MaxOutputTokens, 0, minOutput
	if wanted != 0 {
		least = min(least, wanted)
	}
	w, err := s.awaitReservation(func() reservation {
		out, req.BoundBy = s.r.maxOutput(input, wanted, price)
		out = max(out, least)
		return worstCase(input, out, price)
	})
	req.Params.MaxOutputTokens, req.Bounded = out, out != wanted
	return w, err
}

// requestBytes estimates the size of a request on the wire.
func requestBytes(req *model.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += m.Text.Len() + 24
		for i := range m.Attachments {
			n += 2*m.Attachments[i].Tokens + 96 // the caller halves it
		}
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Args) + len(c.Opaque) + 48
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input) + 64
	}
	if req.Schema != nil {
		n += len(req.Schema.Schema)
	}
	return n
}

// charge records that a call holds a reservation.
func (s *scope) charge(name string, held reservation) {
	s.r.charges[joinPath(s.Path(), name)] = engine.Charge{Tokens: held.tokens, CostUSD: held.cost}
}

// uncharge removes the charge of a call whose usage is known.
func (s *scope) uncharge(name string, held reservation) {
	if held.held {
		delete(s.r.charges, joinPath(s.Path(), name))
	}
}

// chargeUnanswered returns what a call without a reply costs: its whole reservation if it
// was interrupted or its reply was lost, else nothing.
func (s *scope) chargeUnanswered(name, llm string, held reservation, err error) reservation {
	f, failed := errors.AsType[*journal.Failure](err)
	if failed && f.Code != kernel.FailureUnknown && !modelrecord.DecodeError(f).Charged {
		s.uncharge(name, held)
		return reservation{}
	}
	if failed && held.held {
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("a reply of llm %s was lost; its worst case of %d tokens is charged: %s", llm, held.tokens, f.Message)})
	}
	return held
}
