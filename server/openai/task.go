package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/turn"
)

// taskModel is the name of a model for chat UIs that let a user choose the one for titles,
// tags and suggestions. It answers with fixed texts.
const taskModel = "pex-task"

// taskPrefix is how chat UIs begin a prompt for a title, tags or suggestions, which they send
// to the model of the chat.
const taskPrefix = "### Task:"

// taskOf returns the prompt of a task, which must not start a run; "" = the request is none.
func taskOf(q *chatRequest) string {
	var prompts []string
	for i := range q.Messages {
		if q.Messages[i].Role == "user" {
			prompt, _, _ := q.Messages[i].read("")
			prompts = append(prompts, prompt)
		}
	}
	switch {
	case q.Model == taskModel && len(prompts) > 0:
		return prompts[len(prompts)-1]
	case len(prompts) == 1 && strings.HasPrefix(strings.TrimSpace(prompts[0]), taskPrefix):
		return prompts[0]
	}
	return ""
}

// replyTask responds to the prompt of a task with a fixed text.
func (q *chatRequest) replyTask(w http.ResponseWriter, r *http.Request, prompt string) error {
	t := &turn.Turn{Status: stop.RunCompleted, Answer: taskAnswer(prompt)}
	o := &completion{request: q, created: time.Now().Unix(), progress: None}
	if !q.Stream {
		return o.reply(w, t)
	}
	return o.stream(w, r, access.Stream{Release: func() {}}, func(func(*turn.Turn, turn.Change) bool) (*turn.Turn, error) { return t, nil })
}

// taskAnswer returns a valid answer to the prompt of a task: in JSON with the member that it
// asks for, or a title.
func taskAnswer(prompt string) string {
	_, output, found := strings.Cut(prompt, "### Output:")
	if !found {
		output = prompt
	}
	first, member := len(output), ""
	empty := map[string]any{"title": title(prompt), "tags": []string{}, "follow_ups": []string{}, "queries": []string{}, "text": "", "prompt": ""}
	for name := range empty {
		if i := strings.Index(output, `"`+name+`"`); i >= 0 && i < first {
			first, member = i, name
		}
	}
	if member == "" {
		return title(prompt)
	}
	return string(jsonvalue.Encode(map[string]any{member: empty[member]}))
}

const (
	titleWords = 5
	titleSize  = 60 // characters
)

// title returns the first words of the user in the chat that a prompt contains.
func title(prompt string) string {
	_, chat, _ := strings.Cut(prompt, "<chat_history>")
	for line := range strings.Lines(chat + "\n" + prompt) {
		speaker, words, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && strings.EqualFold(speaker, "user") && strings.TrimSpace(words) != "" {
			all := strings.Fields(words)
			return text.ClipRunes(strings.Join(all[:min(titleWords, len(all))], " "), titleSize)
		}
	}
	return "Chat"
}
