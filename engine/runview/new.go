package runview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/tool"
)

// Source is the input of New.
type Source struct {
	Result   *engine.Result
	Question string
	Events   []engine.Event   // of the whole run; see Collector
	Records  []journal.Record // source of the prompts; nil = omit them
	Only     string           // path of the only call whose prompt to include; "" = all prompts
	Drawing  *graph.Drawing   // nil = omit it
}

// Collector is a Sink that collects the events of a run.
type Collector struct{ Events []engine.Event }

var (
	_ engine.Sink       = (*Collector)(nil)
	_ engine.ReplaySink = (*Collector)(nil)
)

// Send implements engine.Sink.
func (c *Collector) Send(ev engine.Event) {
	if !ev.Type.Transient() {
		c.Events = append(c.Events, ev)
	}
}

// Replay implements engine.ReplaySink.
func (c *Collector) Replay(ev engine.Event) { c.Send(ev) }

// New returns the view of a run.
func New(s Source) (*View, error) {
	res := s.Result
	v := &View{
		Run: res.RunID, Spec: res.Spec, Question: s.Question, Status: string(res.Status), Stop: res.StopReason,
		StartedAt: res.StartedAt, DurationMS: res.DurationMS, Usage: res.Usage, Answer: res.Response, Output: res.Output,
		Error: res.Error, Decisions: res.Decisions, Messages: res.Messages, Open: res.Interrupts, Warnings: res.Warnings, Groups: []Group{},
	}
	if s.Drawing != nil {
		v.Graph = s.Drawing.SVG(res.Spec.Name + " · run " + res.RunID)
	}
	b := &builder{view: v, start: res.StartedAt, groups: map[string]int{}, items: map[string]itemIndex{}}
	for i := range s.Events {
		b.add(&s.Events[i])
	}
	b.addDecisions()
	if err := b.prompts(s.Records, s.Only); err != nil {
		return nil, err
	}
	for _, g := range v.Groups { // a call starts after its approval, which follows it in the events
		slices.SortStableFunc(g.Items, func(a, b Item) int { return cmp.Compare(a.FromMS, b.FromMS) })
	}
	return v, nil
}

// builder adds events to the groups of a view, in order.
type builder struct {
	view   *View
	start  time.Time
	count  int
	groups map[string]int       // index in view.Groups by path
	items  map[string]itemIndex // of calls and questions by effect path
}

// itemIndex is the position of an item in a view.
type itemIndex struct{ group, item int }

func (b *builder) item(p itemIndex) *Item { return &b.view.Groups[p.group].Items[p.item] }

func (b *builder) ms(t time.Time) float64 { return float64(t.Sub(b.start).Microseconds()) / 1000 }

// groupPath returns the part of an effect path that identifies its group: "step.s1" of
// "step.s1/turn.1/model".
func groupPath(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// group returns the group of an event. It adds the group if it does not exist.
func (b *builder) group(ev *engine.Event) *Group {
	path := cmp.Or(groupPath(ev.Path), "run")
	i, ok := b.groups[path]
	if !ok {
		i = len(b.view.Groups)
		b.groups[path] = i
		b.view.Groups = append(b.view.Groups, Group{Path: path, FromMS: b.ms(ev.At), Items: []Item{}})
	}
	g := &b.view.Groups[i]
	g.ToMS = max(g.ToMS, b.ms(ev.At))
	if g.Role == "" && ev.Agent == "" {
		g.Role = ev.Role
	}
	if ev.Step != nil && ev.Agent == "" && g.Step == "" && strings.HasSuffix(path, "."+ev.Step.ID) {
		g.Step, g.Goal = ev.Step.ID, ev.Step.Goal
	}
	return g
}

// addItem adds an item to the group of its event. Items beyond MaxCalls are only counted.
func (b *builder) addItem(ev *engine.Event, it Item) {
	g := b.group(ev)
	if b.count++; b.count > MaxCalls {
		b.view.Omitted.Calls++
		return
	}
	it.ID, it.Path, it.Agent, it.FromMS = fmt.Sprintf("c%d", b.count), ev.Path, ev.Agent, b.ms(ev.At)
	it.ToMS = max(it.ToMS, it.FromMS)
	g.Items = append(g.Items, it)
	if ev.Path != "" && !it.Done {
		b.items[ev.Path] = itemIndex{b.groups[g.Path], len(g.Items) - 1}
	}
}

// add adds an event to the view.
func (b *builder) add(ev *engine.Event) {
	switch ev.Type {
	case engine.ModelStarted:
		b.addItem(ev, Item{Kind: ModelItem, Name: ev.Model, Role: ev.Role})
	case engine.ModelCompleted:
		b.modelCompleted(ev)
	case engine.ToolStarted, engine.ToolInterrupted:
		b.toolStarted(ev)
	case engine.ToolCompleted:
		b.toolCompleted(ev)
	case engine.InterruptRaised:
		b.questionAsked(ev)
	case engine.StepStartedEvent:
		b.group(ev)
	case engine.StepCompleted:
		b.stepCompleted(ev)
	case engine.PlanCreated:
		b.planCreated(ev)
	case engine.GuardFired:
		if g := ev.Guard; g != nil {
			b.addItem(ev, Item{Kind: GuardItem, Name: cmp.Or(g.Name, g.Path), Status: string(g.Do), Text: g.Message, Done: true})
		}
	case engine.LimitReached:
		it := Item{Kind: LimitItem, Name: "limit", Text: ev.Text, Done: true}
		if ev.Stop != nil {
			it.Name, it.Text = cmp.Or(ev.Stop.Path, string(ev.Stop.Code)), cmp.Or(ev.Stop.Message, ev.Text)
		}
		b.addItem(ev, it)
	case engine.Warning:
		b.addItem(ev, Item{Kind: WarningItem, Name: "warning", Text: ev.Text, Done: true})
	case engine.RunStarted, engine.ModelDelta, engine.ModelRetrying, engine.ToolProgress, engine.ToolRetrying, engine.ReflectCompleted,
		engine.MessageReceivedEvent, engine.RunSuspended, engine.RunCompleted: // not on the page, or part of the result
	}
}

func (b *builder) modelCompleted(ev *engine.Event) {
	g := b.group(ev)
	p, ok := b.items[ev.Path]
	if ev.Usage != nil {
		g.Tokens += ev.Usage.Total()
		g.Usage = g.Usage.Plus(*ev.Usage)
	}
	g.LatencyMS, g.FirstTokenMS = g.LatencyMS+callLatency(ev), max(g.FirstTokenMS, ev.FirstToken)
	g.CostUSD += ev.CostUSD
	if ev.Error == nil {
		g.ModelCalls++
	}
	if !ok {
		return
	}
	it := b.item(p)
	it.Done, it.ToMS, it.Status, it.CostUSD = true, max(it.FromMS, b.ms(ev.At)), ev.Status, ev.CostUSD
	if ev.Usage != nil {
		it.Tokens = *ev.Usage
	}
	it.LatencyMS, it.FirstTokenMS = callLatency(ev), ev.FirstToken
	if m := ev.Message; m != nil {
		it.Text, it.Calls = m.Text.String(), m.Calls
	}
	if e := ev.Error; e != nil {
		it.Failed, it.Status, it.Text = true, string(e.Kind), e.Message
	}
}

// callLatency returns the duration of a model call in milliseconds, as the provider measured it if
// it did.
func callLatency(ev *engine.Event) int64 { return cmp.Or(ev.Latency, ev.Duration) }

func (b *builder) toolStarted(ev *engine.Event) {
	if p, ok := b.items[ev.Path]; ok { // it waited for an approval
		it := b.item(p)
		it.FromMS, it.Args, it.Done = b.ms(ev.At), ev.Args, false
		it.ToMS = max(it.ToMS, it.FromMS)
		return
	}
	it := Item{Kind: ToolItem, Name: ev.Tool, Args: ev.Args}
	for _, r := range ev.Repairs {
		it.Repairs = append(it.Repairs, r.String())
	}
	b.addItem(ev, it)
}

func (b *builder) toolCompleted(ev *engine.Event) {
	g := b.group(ev)
	g.ToolCalls++
	p, ok := b.items[ev.Path]
	if !ok { // a call that was denied before it started
		b.addItem(ev, Item{Kind: ToolItem, Name: ev.Tool, Args: ev.Args})
		if p, ok = b.items[ev.Path]; !ok {
			return
		}
	}
	it := b.item(p)
	it.Done, it.ToMS, it.Status, it.Text = true, max(it.FromMS, b.ms(ev.At)), ev.Status, ev.Text
	it.Failed = ev.Status != string(tool.CallOK)
	if len(ev.Args) > 0 {
		it.Args = ev.Args
	}
}

func (b *builder) questionAsked(ev *engine.Event) {
	if ev.Interrupt == nil {
		return
	}
	b.addItem(ev, Item{Kind: QuestionItem, Name: string(ev.Interrupt.Kind), Text: ev.Interrupt.Question, Args: ev.Interrupt.Args})
}

func (b *builder) stepCompleted(ev *engine.Event) {
	g := b.group(ev)
	if st := ev.Step; st != nil && st.ID == g.Step {
		g.Status, g.Attempts, g.Result, g.Error = string(st.Status), st.Attempts, st.Result, st.Error
	}
}

func (b *builder) planCreated(ev *engine.Event) {
	if ev.Plan == nil {
		return
	}
	it := Item{Kind: PlanItem, Name: fmt.Sprintf("plan v%d", ev.Plan.Version), Done: true}
	for _, st := range ev.Plan.Steps {
		it.Steps = append(it.Steps, engine.StepEvent{ID: st.ID, Goal: st.Goal})
	}
	b.addItem(ev, it)
}

// addDecisions adds the human decisions to the questions and calls they belong to.
func (b *builder) addDecisions() {
	for i := range b.view.Decisions {
		d := &b.view.Decisions[i]
		if p, ok := b.items[d.Path]; ok {
			it := b.item(p)
			it.Decision, it.Done, it.Status = d, true, d.Do
		}
		call, ok := b.items[strings.TrimSuffix(d.Path, ".approval")]
		if ok && d.Do == "edit" && len(d.Args) > 0 {
			b.item(call).Original = json.RawMessage(slices.Clone(d.Args))
		}
	}
}
