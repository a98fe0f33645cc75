package genai

import (
	"encoding/json"
)

// body is a request. Unset values are not sent.
type body struct {
	Contents          []*content   `json:"contents"`
	SystemInstruction *content     `json:"systemInstruction,omitempty"`
	Tools             []*toolList  `json:"tools,omitempty"`
	SafetySettings    []*threshold `json:"safetySettings,omitempty"`
	GenerationConfig  *generation  `json:"generationConfig,omitempty"`
}

// answer is a reply, a chunk, or an error. Arguments are preserved as the model wrote them.
type answer struct {
	Candidates     []candidate
	PromptFeedback struct {
		BlockReason        string
		BlockReasonMessage string
	}
	UsageMetadata json.RawMessage
	ModelVersion  string
	ResponseID    string
	Error         json.RawMessage
}

type candidate struct {
	Index         int
	Content       struct{ Parts []part }
	FinishReason  string
	FinishMessage string
}

type part struct {
	Text             string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
}

// counts are the token counts of a call.
type counts struct {
	PromptTokenCount        int64
	ToolUsePromptTokenCount int64
	CachedContentTokenCount int64
	CandidatesTokenCount    int64
	ThoughtsTokenCount      int64
}

// errorBody is the body of an error.
type errorBody struct {
	Error struct {
		Code    int
		Message string
		Status  string
		Details []struct {
			Reason     string
			RetryDelay string
		}
	}
}

// opaque is the data that a call carries for its provider.
type opaque struct {
	Signature string `json:"google_thought_signature,omitempty"`
}

// Roles.
const (
	roleUser  = "user"
	roleModel = "model"
)

type content struct {
	Parts []*piece `json:"parts"`
	Role  string   `json:"role,omitempty"`
}

type piece struct {
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	Text             string            `json:"text,omitempty"`
	ThoughtSignature []byte            `json:"thoughtSignature,omitempty"`
}

// blob is the content of a file, in base64.
type blob struct {
	Data     []byte `json:"data"`
	MIMEType string `json:"mimeType"`
}

type functionCall struct {
	ID   string         `json:"id,omitempty"`
	Args map[string]any `json:"args,omitempty"`
	Name string         `json:"name"`
}

type functionResponse struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
}

type toolList struct {
	FunctionDeclarations []*function `json:"functionDeclarations"`
}

type function struct {
	Description          string          `json:"description,omitempty"`
	Name                 string          `json:"name"`
	ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type threshold struct {
	Category  string `json:"category"`
	Threshold string `json:"threshold"`
}

type generation struct {
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
	MaxOutputTokens    int             `json:"maxOutputTokens,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	Seed               *int64          `json:"seed,omitempty"`
	StopSequences      []string        `json:"stopSequences,omitempty"`
	Temperature        *float64        `json:"temperature,omitempty"`
	ThinkingConfig     *thinking       `json:"thinkingConfig,omitempty"`
	TopP               *float64        `json:"topP,omitempty"`
}

type thinking struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitempty"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}
