package runtime_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
)

// picture is the content of the file of all runs.
const picture = "a picture"

var pictureDigest = func() string { sum := sha256.Sum256([]byte(picture)); return hex.EncodeToString(sum[:]) }()

// withFile adds a file to an input.
func withFile(in *engine.Input) {
	in.Files, in.Artifacts = []string{"p.png"}, map[string]string{"p.png": pictureDigest}
	in.Attachments = []model.Attachment{{Name: "p.png", MediaType: "image/png", SHA256: pictureDigest, Size: int64(len(picture))}}
}

// says records a text.
func says(s engine.Scope, format string, args ...any) {
	s.Record(engine.WarningAdded{Text: fmt.Sprintf(format, args...)})
}

// modelCall calls a model and records its reply, or why there is none.
func modelCall(s engine.Scope, name string, c model.Call) error {
	if c.Messages == nil {
		c.Messages = []model.Message{{Role: model.User, Text: model.Text{"a <prompt> of ", name}}}
	}
	reply, err := s.Model(name, c)
	if me := model.AsError(err); me != nil {
		says(s, "%s: %v", name, err)
		return nil
	}
	if err == nil {
		says(s, "%s: %s %+v", name, jsonvalue.Encode(reply), reply.Bound)
	}
	return err
}

// modelCalls is a node that calls a model n times.
func modelCalls(n int) nodeFunc {
	return func(s engine.Scope) error {
		for i := range n {
			if err := modelCall(s, fmt.Sprint("model.", i), model.Call{Role: "planner", LLM: "main"}); err != nil {
				return err
			}
		}
		return done(s)
	}
}

func done(s engine.Scope) error {
	s.Record(engine.Answered{Answer: engine.Answer{Text: "done"}})
	return nil
}

// withLimits sets limits of a program.
func withLimits(p *engine.Program, l engine.Limits) *engine.Program {
	l.MaxSteps, l.MaxReplans = p.Limits.MaxSteps, p.Limits.MaxReplans
	p.Limits = l
	return p
}

func workRuns() []workRun {
	runs := []workRun{
		requestRun(), fallbackRun(), notConnectedRun(), allowanceRun(), toolRun(), questionsRun(), serverRun(), brokenServerRun(), samplingRun(engine.Limits{}),
		samplingRun(engine.Limits{MaxTokens: 90_000}), vectorsRun("without a budget", engine.Limits{}), vectorsRun("under a budget", engine.Limits{MaxTokens: 30_000}),
		memoryRun(), agentsRun(),
	}
	exported := []workRun{requestRun(), toolRun(), agentsRun()}
	for i := range exported {
		exported[i].exported, exported[i].name = true, exported[i].name+", exported"
	}
	return slices.Concat(runs, exported, modelErrorRuns(), toolErrorRuns())
}

// requestRun has a conversation with all that a request can contain.
func requestRun() workRun {
	temperature, seed := 0.25, int64(9007199254740993)
	specs := []engine.ModelSpec{{
		Name: "main", Path: "llms.main", Provider: "p", Config: multimodal{}, Accepts: []model.FileKind{model.ImageFile}, Cost: &model.Cost{Input: 3, Output: 15},
		Params: model.Params{Model: "large", Temperature: &temperature, Seed: &seed, MaxOutputTokens: 500, Stop: []string{"<end>"}},
	}}
	call := model.Call{
		Role: "executor", LLM: "main", StepID: "s1", Step: "find <it>", PerStep: true, Parallel: true, Files: true,
		Tools:  []model.ToolDef{{Name: "look", Description: "Looks <up>.", Input: json.RawMessage(`{"type": "object"}`)}, {Name: "bare"}},
		Schema: &model.ReplySchema{Name: "reply", Schema: json.RawMessage(`{"type":"object","title":"<&>"}`)},
		Messages: []model.Message{
			{Role: model.System, Text: model.Text{"You are ", "a <test>. ", "\u2028 é"}},
			{Role: model.User, Text: model.Text{"Look & see"}},
			{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c", Name: "look", Args: json.RawMessage(`{"a":"<"}`), Opaque: json.RawMessage(`{"s":"<"}`)}, {Name: "look", Args: json.RawMessage(`{torn`)}}},
			{Role: model.ToolRole, CallID: "c", Tool: "look", IsError: true, Text: model.Text{"no"}},
			{Role: model.ToolRole, CallID: "d", Text: model.Text{""}},
			{Role: model.User},
		},
	}
	return workRun{
		name: "a request with everything", inputs: []func(*engine.Input){withFile, func(in *engine.Input) {
			withFile(in)
			in.Trace, in.TraceState = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b"
		}},
		build: func(p *process) (*engine.Program, engine.Host) {
			h := p.host()
			h.Models = p.models(map[string]func(context.Context, *model.Request) (*model.Reply, error){"main": echoes})
			prog := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
				err := s.Child("turn.1").Parallel(3, func(i int) string { return fmt.Sprint("branch.", i) }, func(i int, s engine.Scope) error { return modelCall(s, "model", call) })
				return errors.Join(err, done(s))
			}})
			prog.Models = specs
			return prog, h
		},
	}
}

// modelErrorRuns fail with each kind of error, once, with and without a budget.
func modelErrorRuns() (out []workRun) {
	for _, kind := range []model.ErrorKind{
		model.RateLimited, model.Overloaded, model.ServerError, model.NetworkError, model.Truncated, model.CallTimeout, model.AuthError, model.NotFound, model.BadRequest,
		model.ContextTooLong, model.BadReply, model.NoReply, model.Interrupted,
	} {
		for _, tokens := range []int{0, 200_000} {
			for _, unsent := range []bool{false, true} {
				out = append(out, workRun{name: fmt.Sprintf("%s, max_tokens %d, not sent %v", kind, tokens, unsent), counts: true, build: func(p *process) (*engine.Program, engine.Host) {
					h := p.host()
					h.Models = p.models(map[string]func(context.Context, *model.Request) (*model.Reply, error){"main": func(ctx context.Context, req *model.Request) (*model.Reply, error) {
						if n := p.count("main"); n <= 2 {
							return nil, fmt.Errorf("call: %w", &model.Error{
								Kind: kind, Message: "no: " + canary, Status: 418, RequestID: "q-1", Attempts: n, NotSent: unsent, RetryAfter: time.Duration(n), Err: errReset,
							})
						}
						return echoes(ctx, req)
					}})
					prog := withLimits(program(map[string]nodeFunc{"a": modelCalls(2)}), engine.Limits{MaxTokens: tokens})
					prog.Models = []engine.ModelSpec{{Name: "main", Path: "llms.main", Params: model.Params{MaxOutputTokens: 100}, Retry: retry.Policy{MaxAttempts: 5, InitialDelay: 1}}}
					return prog, h
				}})
			}
		}
	}
	return out
}

// fallbackRun needs the third of its models.
func fallbackRun() workRun {
	return workRun{name: "a fallback", build: func(p *process) (*engine.Program, engine.Host) {
		fails := func(context.Context, *model.Request) (*model.Reply, error) {
			return nil, &model.Error{Kind: model.AuthError, Message: "no key " + canary, Attempts: 1}
		}
		h := p.host()
		h.Models = p.models(map[string]func(context.Context, *model.Request) (*model.Reply, error){"main": fails, "second": fails, "third": echoes})
		prog := withLimits(program(map[string]nodeFunc{"a": modelCalls(2)}), engine.Limits{MaxCost: 1})
		price := &model.Cost{Input: 1, Output: 2}
		prog.Models = []engine.ModelSpec{{Name: "main", Path: "llms.main", Fallback: []string{"second", "third"}, Cost: price}, {Name: "second", Cost: price}, {Name: "third", Cost: price}}
		return prog, h
	}}
}

// notConnectedRun calls a model that its host does not have.
func notConnectedRun() workRun {
	return workRun{name: "a model that is not connected", build: func(p *process) (*engine.Program, engine.Host) {
		prog := program(map[string]nodeFunc{"a": modelCalls(1)})
		prog.Models = []engine.ModelSpec{{Name: "main", Path: "llms.main"}}
		return prog, p.host()
	}}
}

// allowanceRun uses up the retry allowance of a run: of the provider, of the engine and of an agent.
func allowanceRun() workRun {
	return workRun{name: "the retry allowance", counts: true, build: func(p *process) (*engine.Program, engine.Host) {
		h := p.host()
		h.Models = p.models(map[string]func(context.Context, *model.Request) (*model.Reply, error){"main": func(ctx context.Context, req *model.Request) (*model.Reply, error) {
			used, ok := model.RetriesOf(ctx).Take()
			model.NoticeRetry(ctx, model.RetryEvent{Attempt: 2, Error: "no: " + canary})
			if p.count("main")%2 == 1 {
				return nil, &model.Error{Kind: model.Truncated, Message: fmt.Sprint("torn ", used, ok), Attempts: 1}
			}
			return &model.Reply{Text: fmt.Sprint(used, ok), Stop: model.EndTurn, Usage: model.Tokens{Input: 2, Output: 1}}, nil
		}})
		h.Nested = func(*engine.Program, map[string]any) (engine.Host, error) { return engine.Host{Models: h.Models}, nil }
		specs := []engine.ModelSpec{{Name: "main", Path: "llms.main", Params: model.Params{MaxOutputTokens: 10}, Retry: retry.Policy{MaxAttempts: 3, InitialDelay: 1}}}
		inner := program(map[string]nodeFunc{"a": modelCalls(4)})
		prog := withLimits(program(map[string]nodeFunc{"a": func(s engine.Scope) error {
			res, err := s.Agent("agent", inner, nil)
			if err != nil {
				return err
			}
			says(s, "%q %v", res.Warnings, res.StopReason)
			return modelCalls(8)(s)
		}}), engine.Limits{MaxTokens: 500_000})
		prog.Models, inner.Models, prog.Agents = specs, specs, []*engine.Program{inner}
		return prog, h
	}}
}

// memoryRun has three turns of a conversation with session state; a turn has steps.
func memoryRun() workRun {
	in := func(in *engine.Input) { in.MemoryID = "m" }
	return workRun{name: "a conversation", inputs: []func(*engine.Input){in, in, in}, build: func(p *process) (*engine.Program, engine.Host) {
		h := p.host()
		h.Tools = sessionTools(memory.NotesPart, memory.VariablesPart)
		prog := programWithMemory(func(s engine.Scope) error {
			says(s, "%s", jsonvalue.Encode(s.View().State.Session))
			if err := callsTools("notes", "variables")(s); err != nil {
				return err
			}
			s.Record(engine.StepEnded{Record: plan.StepRecord{ID: "s1", Goal: "a <goal>", Status: plan.OK, Result: "a <result>", ToolCalls: []tool.Record{{Tool: "notes", Args: json.RawMessage(`{"a":"<"}`)}}}})
			st := s.View().State
			s.Record(engine.Answered{Answer: engine.Answer{Text: fmt.Sprintf("after %d turns <and> %d steps", len(st.History), len(st.Earlier))}})
			return nil
		})
		return prog, h
	}}
}

// agentsRun nests agents three levels deep, each with tools, a server, a model and session state.
func agentsRun() workRun {
	return workRun{
		name: "agents of agents", inputs: []func(*engine.Input){func(in *engine.Input) { withFile(in); in.MemoryID = "m" }, func(in *engine.Input) { in.MemoryID = "m" }},
		build: func(p *process) (*engine.Program, engine.Host) {
			level := func(name string) *engine.Program {
				prog := programWithMemory(nil)
				prog.Name, prog.Digest = name, "sha256:"+name
				prog.Models = []engine.ModelSpec{{Name: "main", Path: "llms.main", Params: model.Params{Model: "model of " + name}}}
				return prog
			}
			host := func(h engine.Host, name string) engine.Host {
				h.Models = p.models(map[string]func(context.Context, *model.Request) (*model.Reply, error){"main": echoes})
				srv := named("srv", p.server(tool.Sampling{LLM: "main", MaxCalls: 1, MaxTokens: 4000}, func(ctx context.Context, _ string, c *tool.Call) (*tool.Output, error) {
					reply, err := c.Sample(ctx, []model.Message{{Role: model.User, Text: model.Text{"of the server of " + name}}}, 50)
					if err != nil {
						return nil, err
					}
					return &tool.Output{Text: reply.Text}, nil
				}))
				h.Tools = append([]tool.Binding{named("echo", p.tool(tool.WriteEffect, echoCall)), srv}, sessionTools(memory.NotesPart)...)
				return h
			}
			first, second, third := level("first"), level("second"), level("third")
			own := func(s engine.Scope) error {
				says(s, "%s", jsonvalue.Encode(s.View().State.Session))
				err := s.Parallel(2, func(i int) string { return fmt.Sprint("b.", i) }, func(_ int, s engine.Scope) error { return modelCalls(1)(s) })
				return errors.Join(err, toolCalls(engine.Invocation{Tool: "echo"}, engine.Invocation{Tool: "srv__look_up"}, engine.Invocation{Tool: "notes"})(s))
			}
			calls := func(inner *engine.Program) nodeFunc {
				return func(s engine.Scope) error {
					if err := own(s); err != nil {
						return err
					}
					for i := range 2 {
						res, err := s.Child("x").Agent(fmt.Sprint("agent.", i), inner, map[string]any{"question": "<of> agents", "big": 9007199254740993, "million": 10000000, "half": 0.5, "list": []any{3, "x"}, "turn": i})
						if err != nil {
							return err
						}
						says(s, "%s", resultJSON(res))
					}
					return nil
				}
			}
			third.Nodes["a"], second.Nodes["a"], first.Nodes["a"] = nodeFunc(own), calls(third), calls(second)
			first.Agents, second.Agents = []*engine.Program{third, second}, []*engine.Program{third}
			h := host(p.host(), "first")
			h.Nested = func(prog *engine.Program, params map[string]any) (engine.Host, error) {
				inner := host(engine.Host{Nested: h.Nested, Env: h.Env}, fmt.Sprint(prog.Name, params["million"], params["list"], params["big"]))
				return inner, nil
			}
			return first, h
		},
	}
}
