package reply

import "fmt"

// wanted is how every message ends.
const wanted = ` Reply with one JSON object and nothing around it: {"steps": [...], "result": ""} while work remains, or {"steps": [], "result": "the answer"} when it is done.`

// message words a code for the model that is asked again.
func (src *source) message() string {
	switch src.code {
	case EmptyPlan:
		return `The plan is empty: there are no steps and no result.` + wanted
	case EmptyOutput:
		return `The reply is empty.` + wanted
	case NotObject:
		return src.detail + wanted
	case MissingFields:
		return `The JSON lacks usable "steps" and "result". ` + src.detail + wanted
	case Truncated:
		return `The reply ends in the middle of the JSON. Make it shorter, and complete.` + wanted
	case ToolCallInPlan:
		return `The reply calls a tool. The planner calls none: name the tool in a step, and the executor calls it.` + wanted
	case Refusal:
		return `The model declined: ` + excerpt(src.text, 200)
	case TooLarge:
		return fmt.Sprintf(`The reply is too long: %d bytes.`, len(src.text)) + wanted
	case TooDeep:
		return `The JSON is nested too deep.` + wanted
	}
	if src.detail != "" {
		return `The reply is not valid JSON: it breaks at ` + src.detail + `.` + wanted
	}
	return `The reply is not JSON.` + wanted
}
