package engine

// Tracer hears which ways a run, and each agent within it, takes through its
// program: on the run's own goroutine, as it happens, and again where a resumed
// run comes that way again. It only looks on.
type Tracer interface {
	Trace(p *Program, w Way)
}

// Way is one thing that a Tracer hears. The set is closed.
type Way interface{ way() }

// The ways.
type (
	// Visited says that the walk comes to a node of the graph, or to its end.
	Visited struct{ Node string }
	// EdgeTaken says that the walk went along an edge of the graph; When is its
	// label.
	EdgeTaken struct{ From, To, When string }
	// GuardTried says that the condition of guards[Index] was looked at.
	GuardTried struct {
		Index int
		Fired bool
	}
	// Requested says that a model is about to be asked, or a recording in its
	// place. The request is only for reading.
	Requested struct{ Request *Request }
	// Recorded says that the run took note of a fact.
	Recorded struct{ Fact Fact }
	// Ended says how the run, or the agent within it, ended.
	Ended struct{ Reason StopReason }
)

func (Visited) way()    {}
func (EdgeTaken) way()  {}
func (GuardTried) way() {}
func (Requested) way()  {}
func (Recorded) way()   {}
func (Ended) way()      {}

// Repair is a way out that was taken where something went wrong.
type Repair string

// The repairs.
const (
	ReplyMended      Repair = "reply_mended"       // a reply that was no JSON as it stood was read all the same
	PlannerReasked   Repair = "planner_reasked"    // the planner, or the reflector, was asked again
	ExecutorReasked  Repair = "executor_reasked"   // so was the executor
	FinalizerReasked Repair = "finalizer_reasked"  // and the finalizer
	AnswerMended     Repair = "answer_mended"      // an answer that was no JSON as it stood was read all the same
	ArgumentsFixed   Repair = "arguments_repaired" // arguments that were malformed, or of another type, were repaired
	StepsDropped     Repair = "steps_dropped"      // a plan held steps that are done
	FellBack         Repair = "fallback"           // another llm was asked
	AnswerMissing    Repair = "answer_missing"     // the finalizer gave none: the steps' results stand for it
)

// traced says whether anybody hears; asked before a Way is made, which costs.
func (r *run) traced() bool { return r.opts.Tracer != nil }

func (r *run) trace(w Way) { r.opts.Tracer.Trace(r.program, w) }
