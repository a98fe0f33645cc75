package reply

import "fmt"

// wanted is how every message ends.
const wanted = ` Reply with one JSON object only: {"steps": [...], "result": ""} while work remains, or {"steps": [], "result": "the answer"} once it is done.`

// message words a code for the model that is asked again.
func (src *source) message() string {
	switch src.code {
	case EmptyPlan:
		return `The plan is empty: it has no steps and no result.` + wanted
	case EmptyOutput:
		return `The reply is empty.` + wanted
	case NotObject:
		return src.detail + wanted
	case MissingFields:
		return `The JSON lacks usable "steps" and "result". ` + src.detail + wanted
	case Truncated:
		return `The reply was cut off in the middle of the JSON. Make it shorter and complete it.` + wanted
	case ToolCallInPlan:
		return `The reply calls a tool. Planners cannot call tools: name the tool in a step, and the executor calls it.` + wanted
	case Refusal:
		return `The model refused: ` + excerpt(src.text, 200)
	case TooLarge:
		return fmt.Sprintf(`The reply is too long: %d bytes.`, len(src.text)) + wanted
	case TooDeep:
		return `The JSON is nested too deeply.` + wanted
	}
	if src.detail != "" {
		return `The reply is not valid JSON: syntax error at ` + src.detail + `.` + wanted
	}
	return `The reply is not JSON.` + wanted
}
