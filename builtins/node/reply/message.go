package reply

import "fmt"

// expectedFormat ends every message.
const expectedFormat = ` Reply with one JSON object only: {"steps": [...], "result": ""} while work remains, or {"steps": [], "result": "the answer"} once it is done.`

// message returns the error message for the model.
func (src *source) message() string {
	switch src.code {
	case EmptyPlan:
		return `The plan is empty: it has no steps and no result.` + expectedFormat
	case EmptyOutput:
		return `The reply is empty.` + expectedFormat
	case NotObject:
		return src.detail + expectedFormat
	case MissingFields:
		return `The JSON lacks usable "steps" and "result". ` + src.detail + expectedFormat
	case Truncated:
		return `The reply was cut off in the middle of the JSON. Make it shorter and complete it.` + expectedFormat
	case ToolCallInPlan:
		return `The reply calls a tool. Planners cannot call tools: name the tool in a step, and the executor calls it.` + expectedFormat
	case Refusal:
		return `The model refused: ` + excerpt(src.text, 200)
	case TooLarge:
		return fmt.Sprintf(`The reply is too long: %d bytes.`, len(src.text)) + expectedFormat
	case TooDeep:
		return `The JSON is nested too deeply.` + expectedFormat
	}
	if src.detail != "" {
		return `The reply is not valid JSON: syntax error at ` + src.detail + `.` + expectedFormat
	}
	return `The reply is not JSON.` + expectedFormat
}
