package main

import "github.com/pexctl/pex/engine"

// lastWord is how a run stands by its head.
type lastWord struct {
	standing
	seq uint64 // of the last record then
}

// said reads the head of the run; nil = it says nothing, or of a session before.
func (t target) said() *lastWord {
	head, err := t.home.Head(t.run)
	if err != nil {
		return nil
	}
	s, ok := (&look{dir: t.dir, home: t.home}).summary(t.run)
	if !ok {
		return nil
	}
	return &lastWord{s, head.Seq}
}

// asItEnded gives a run that has ended the end that was written down when it did.
// This version may judge the same journal by other rules, or not follow it to its
// end: that it says as a warning.
func (p *past) asItEnded(res *engine.Result) *engine.Result {
	n := p.said
	if n == nil || !ended(p.records) || p.records[len(p.records)-1].Seq != n.seq || res.StopReason.Code == n.StopReason.Code {
		return res
	}
	why := string(res.Status) + " (" + string(res.StopReason.Code) + ")"
	if res.StopReason.Message != "" {
		why += ": " + res.StopReason.Message
	}
	res.Warnings = append(res.Warnings, "the run ended as shown, in another version of pexctl; by the rules of this one, which may not find all its steps and its answer, it would end "+why)
	res.Status, res.StopReason = engine.RunStatus(n.Status), n.StopReason
	res.StopReason.Status = res.Status
	if res.Error = ""; res.Status == engine.Failed || res.Status == engine.Cancelled {
		res.Error = res.StopReason.Message
	}
	return res
}
