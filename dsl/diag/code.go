package diag

import "slices"

// Code names a kind of mistake for ever: a number is never used again.
type Code string

// The codes: reading files, the shape of YAML, the language, names, templates,
// expressions, schemas and paths, the graph, policy, slips of YAML, what is doubtful.
const (
	Unreadable    Code = "PEX001"
	OutsideRoot   Code = "PEX002"
	TooLarge      Code = "PEX003"
	Syntax        Code = "PEX004"
	DuplicateKey  Code = "PEX005"
	KeyNotText    Code = "PEX006"
	ManyDocuments Code = "PEX007"
	CustomTag     Code = "PEX008"
	Alias         Code = "PEX009"
	UnknownKey    Code = "PEX010"
	WrongType     Code = "PEX011"
	MissingKey    Code = "PEX012"
	NotAllowed    Code = "PEX013"
	OutOfBounds   Code = "PEX014"
	WrongKind     Code = "PEX015"
	IncludeClash  Code = "PEX016"
	Cycle         Code = "PEX017"
	BadOverride   Code = "PEX018"
	// PEX019 was a key that an early version did not know yet.
	UnknownModel   Code = "PEX020"
	UnknownType    Code = "PEX021"
	UnknownPrompt  Code = "PEX022"
	UnknownTool    Code = "PEX023"
	WhichModel     Code = "PEX024"
	BadName        Code = "PEX025"
	Exclusive      Code = "PEX026"
	UnknownAgent   Code = "PEX027"
	UnknownName    Code = "PEX030"
	OptionalName   Code = "PEX031"
	BadTemplate    Code = "PEX032"
	NearMiss       Code = "PEX033"
	Shadowed       Code = "PEX034"
	BadExpression  Code = "PEX040"
	GuardMismatch  Code = "PEX041"
	BadSchema      Code = "PEX050"
	BadDefault     Code = "PEX051"
	BadPath        Code = "PEX052"
	BadPattern     Code = "PEX053"
	BadGraph       Code = "PEX060"
	UnknownNode    Code = "PEX061"
	Secret         Code = "PEX070"
	NoCost         Code = "PEX071"
	RetryWrite     Code = "PEX072"
	UnapprovedTool Code = "PEX073"
	Unused         Code = "PEX074"
	BadConfig      Code = "PEX075"
	Unpinned       Code = "PEX076"
	HiddenText     Code = "PEX077"
	Deprecated     Code = "PEX078"
	TooDear        Code = "PEX079"
	CutByComment   Code = "PEX080"
	NumberAsText   Code = "PEX081"
	BadIgnore      Code = "PEX082"
	UnusedIgnore   Code = "PEX083"
	Ungranted      Code = "PEX090"
	ShadowedTool   Code = "PEX091"
	NeverFires     Code = "PEX092"
	AlwaysFires    Code = "PEX093"
	NotStrict      Code = "PEX094"
	Unmentioned    Code = "PEX095"
	NoEffect       Code = "PEX096"
)

// Meaning is a code's entry in the reference.
type Meaning struct {
	Code    Code   `json:"code"`
	Title   string `json:"title"`   // what is wrong, in a line
	Meaning string `json:"meaning"` // why it matters and the way out
}

// Codes lists every code in order.
func Codes() []Meaning { return slices.Clone(codes) }

// Explain gives the entry of a code; ok is false when there is no such code.
func Explain(code string) (m Meaning, ok bool) {
	i := slices.IndexFunc(codes, func(m Meaning) bool { return string(m.Code) == code })
	if i < 0 {
		return Meaning{}, false
	}
	return codes[i], true
}
