package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

func (a *operations) addDecisions() {
	s := a.server
	of := func(id, method, path, summary, text string, responses map[int]any, problems ...int) describe {
		return describe{id: id, method: method, path: path, tag: "decisions", summary: summary, text: text, responses: responses, problems: problems}
	}
	add(a, of("listQuestions", http.MethodGet, "/v1/questions", "List the open questions of all runs", "",
		map[int]any{200: QuestionList{}}), s.listQuestions)
	add(a, of("answerQuestion", http.MethodPost, "/v1/runs/{run}/answers", "Answer a question of a run",
		"The response is sent once the answer is durable. Only the first answer to a question counts.",
		map[int]any{200: Answered{}}, 403, 404, 409, 412, 422), s.answer)
	add(a, of("messageRun", http.MethodPost, "/v1/runs/{run}/messages", "Send a message to a run",
		"The user corrects the question of a run that has not ended, or adds to it. The response is sent once the message is durable. "+
			"A run that executes sees it at its next model call; one that is queued, suspended or waits for an answer, when it continues. It answers no question.",
		map[int]any{202: MessageRef{}}, 403, 404, 409, 422), s.message)
	add(a, of("cancelRun", http.MethodPost, "/v1/runs/{run}/cancel", "Cancel a run",
		"The run ends in the background, after its writes in flight.",
		map[int]any{200: RunRef{}, 202: RunRef{}}, 403, 404), s.cancel)
	add(a, of("resumeRun", http.MethodPost, "/v1/runs/{run}/resume", "Resume a run",
		"Continues a run that is suspended, or that a limit stopped which set raises. It waits for its turn as a new run does.",
		map[int]any{202: RunRef{}}, 403, 404, 409, 422, 429, 503), s.resume)
	a.addFork()
}

type questionsRequest struct {
	Agent string `query:"agent" doc:"Only questions of runs of this agent."`
	Kind  string `query:"kind" enum:"approval,plan,human,ask,elicitation,guard,needs_review" doc:"Only questions of this kind."`
	Mine  bool   `query:"mine" doc:"Only questions that the client may answer."`
}

// QuestionList has the open questions that the client may view.
type QuestionList struct {
	Questions []Question `json:"questions"`
}

// Question is an open question of a run.
type Question struct {
	Run       string         `json:"run_id"`
	Agent     string         `json:"agent" doc:"The agent of the run; empty if the server has none for its spec."`
	Path      string         `json:"path"`
	Kind      interrupt.Kind `json:"kind"`
	Tool      string         `json:"tool"`
	Args      jsonValue      `json:"args" doc:"Arguments of the call, or the plan."`
	Question  string         `json:"question"`
	Approvers string         `json:"approvers,omitempty" doc:"Expression over by: who may answer, except deny. Empty = everyone with the role approve."`
	FourEyes  bool           `json:"four_eyes,omitempty" doc:"Whether someone who neither started nor changed the run must answer, except deny."`
	Digest    string         `json:"digest" doc:"Identifies the content; send it with the answer."`
	Since     *time.Time     `json:"since,omitempty" doc:"When it was asked, if known."`
}

func (s *server) listQuestions(ctx context.Context, in *questionsRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if in.Agent != "" {
		if _, err := c.Agent(auth.View, in.Agent); err != nil {
			return nil, err
		}
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, err
	}
	list := QuestionList{Questions: []Question{}}
	for _, o := range open {
		q := questionOf(o)
		if (in.Agent == "" || q.Agent == in.Agent) && (in.Kind == "" || string(q.Kind) == in.Kind) && (o.Mine || !in.Mine) {
			list.Questions = append(list.Questions, q)
		}
	}
	return replyJSON(http.StatusOK, list)
}

func questionOf(o access.Question) Question {
	q := Question{
		Run: o.Run, Agent: o.Name, Path: o.Open.Path, Kind: o.Open.Kind, Tool: o.Open.Tool, Args: jsonValue(o.Open.Args),
		Question: o.Open.Question, Approvers: o.Open.Approvers, FourEyes: o.Open.FourEyes, Digest: manager.Digest(o.Open),
	}
	if !o.Since.IsZero() {
		q.Since = &o.Since
	}
	return q
}

// Answer is an answer to a question.
type Answer struct {
	Path   string    `json:"path" minLength:"1" doc:"Path of the question."`
	Do     string    `json:"do" enum:"approve,deny,edit,text,done,redo,skip" doc:"done, redo and skip settle a write whose outcome is unknown."`
	Reason string    `json:"reason,omitempty" doc:"Of deny, for the model."`
	Edit   jsonValue `json:"edit,omitempty" doc:"Of edit: the arguments or the plan to use instead."`
	Text   string    `json:"text,omitempty" doc:"Of text: the answer."`
	Result jsonValue `json:"result,omitempty" doc:"Of done: the result of the tool."`
	Digest string    `json:"digest,omitempty" doc:"Digest of the question that the human saw. The answer counts only for this question."`
}

// Answered is an answer that counts.
type Answered struct {
	Run  string `json:"run_id"`
	Path string `json:"path"`
	Do   string `json:"do"`
}

type answerRequest struct {
	RunPath
	Body Answer
}

func (s *server) answer(ctx context.Context, in *answerRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	content, bad := answerContent(in.Body)
	if bad != nil {
		return nil, bad
	}
	answer := manager.Answer{Path: in.Body.Path, Do: in.Body.Do, Value: content, Digest: in.Body.Digest}
	if err := c.Answer(ctx, in.Run, answer); err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, Answered{in.Run, in.Body.Path, in.Body.Do})
}

// contents are the keys of an answer that belong to one value of do.
var contents = []struct {
	key, do string
	of      func(Answer) string
	needs   string // "" = the key is optional
}{
	{"reason", "deny", func(a Answer) string { return a.Reason }, ""},
	{"edit", "edit", func(a Answer) string { return compact(a.Edit) }, "edit needs the arguments or the plan to use"},
	{"text", "text", func(a Answer) string { return a.Text }, "text needs the answer"},
	{"result", "done", func(a Answer) string { return compact(a.Result) }, "done needs the result of the tool"},
}

// answerContent returns the content of an answer; see runs.Answer.
func answerContent(a Answer) (content string, bad *problem.Problem) {
	for _, c := range contents {
		value := c.of(a)
		switch {
		case c.do != a.Do && value != "":
			return "", problem.New(problem.InvalidAnswer, "%s has no effect with do: %s; remove it, or use do: %s", c.key, a.Do, c.do).At("/" + c.key)
		case c.do != a.Do:
		case value == "" && c.needs != "":
			return "", problem.New(problem.InvalidAnswer, "%s", c.needs).At("/" + c.key)
		default:
			content = value
		}
	}
	return content, nil
}

func compact(v jsonValue) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

type cancelRequest struct {
	RunPath
	Body *struct{} // without keys
}

func (s *server) cancel(ctx context.Context, in *cancelRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	err = c.Cancel(ctx, in.Run)
	if ended, ok := errors.AsType[*runs.EndedError](err); ok {
		return replyAt(http.StatusOK, in.Run, RunRef{in.Run, ended.Result.Status})
	}
	if err != nil {
		return nil, err
	}
	return replyAt(http.StatusAccepted, in.Run, RunRef{Run: in.Run})
}

type resumeRequest struct {
	RunPath
	Body *struct {
		Set      []string `json:"set,omitempty" maxItems:"100" doc:"Limits to raise: limits.NAME=VALUE."`
		KeepSpec bool     `json:"keep_spec,omitempty" doc:"Continue with the original spec even if its file has changed."`
	}
}

func (s *server) resume(ctx context.Context, in *resumeRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	var set []string
	keepSpec := false
	if in.Body != nil {
		set, keepSpec = in.Body.Set, in.Body.KeepSpec
	}
	if err := c.Resume(ctx, in.Run, set, keepSpec); err != nil {
		return nil, err
	}
	return replyAt(http.StatusAccepted, in.Run, RunRef{Run: in.Run})
}
